package probe_test

import (
	"context"
	"fmt"
	"time"

	"github.com/startgate/startgate/envcheck"
	"github.com/startgate/startgate/probe"
	"github.com/startgate/startgate/probe/probetest"
)

func Example() {
	s, err := probetest.Start(probetest.Behaviour{Loading: probetest.LoadFor(time.Second)})
	if err != nil {
		panic(err)
	}
	defer s.Close()

	u, reason := envcheck.ParseRedisURL(envcheck.Generic, s.URL())
	if reason != "" {
		panic(reason)
	}
	r := probe.NewRedis(u, probe.RedisOptions{
		DialTimeout: time.Second, ReplyTimeout: time.Second, Require: envcheck.RequireWrite, KeyPrefix: "rq",
	})
	defer r.Close()

	var last envcheck.Code
	o := probe.Wait(context.Background(), r, probe.Limits{Budget: time.Minute}, func(o probe.Outcome) {
		if o.Code != last {
			last = o.Code
			fmt.Println(o.Code)
		}
	})
	fmt.Println(o.Code)
	// Output:
	// redis_loading
	// ready
}
