// Worker is an asynq worker, and with an argument a client of it:
//
//	worker            works
//	worker enqueue    puts one task into the queue
package main

import (
	"context"
	"log"
	"os"
	"strings"

	"github.com/hibiken/asynq"
)

func main() {
	redis, err := asynq.ParseRedisURI(os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal("REDIS_URL cannot be read") // err would quote it
	}
	if len(os.Args) > 1 {
		client := asynq.NewClient(redis)
		defer client.Close()
		if _, err := client.Enqueue(asynq.NewTask("greet", []byte(strings.Join(os.Args[1:], " ")))); err != nil {
			log.Fatal(err)
		}
		return
	}
	mux := asynq.NewServeMux()
	mux.HandleFunc("greet", func(_ context.Context, task *asynq.Task) error {
		log.Printf("did: %s", task.Payload())
		return nil
	})
	if err := asynq.NewServer(redis, asynq.Config{Concurrency: 2}).Run(mux); err != nil {
		log.Fatal(err)
	}
}
