// Loop runs programs in turn and prints how long each run took. It is run
// inside a container, so that Docker's own time is in none of it.
//
//	loop RUNS PROGRAM [ARG...] [-- PROGRAM [ARG...]]...
//
// Each line of output is one program's: its exit code, and then the
// nanoseconds of each run.
//
//	loop wait
//
// only stays, as a worker does.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
)

func main() {
	if os.Args[1] == "wait" {
		time.Sleep(time.Hour)
		return
	}
	runs, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	programs := [][]string{nil}
	for _, arg := range os.Args[2:] {
		last := len(programs) - 1
		if arg == "--" {
			programs = append(programs, nil)
			continue
		}
		programs[last] = append(programs[last], arg)
	}
	lines := make([]string, len(programs))
	const warmUp = 3
	for n := range warmUp + runs {
		for i, p := range programs {
			cmd := exec.Command(p[0], p[1:]...)
			began := time.Now()
			err := cmd.Run()
			took := time.Since(began)
			if cmd.ProcessState == nil {
				panic(err)
			}
			switch {
			case n == 0:
				lines[i] = strconv.Itoa(cmd.ProcessState.ExitCode())
			case n >= warmUp:
				lines[i] += fmt.Sprintf(" %d", took.Nanoseconds())
			}
		}
	}
	for _, line := range lines {
		fmt.Println(line)
	}
}
