package envcheck

import (
	"bytes"
	"os"
	"syscall"
	"testing"
)

// cpu is the CPU time that this process took, in nanoseconds: on a machine
// that does other things too, the time on the wall says little.
func cpu() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkCheck is the whole check of the five-group example: its contract
// read, and an environment judged. It must take less than 1 ms of CPU.
func BenchmarkCheck(b *testing.B) {
	text, err := os.ReadFile("../examples/bullmq/contract.yaml")
	if err != nil {
		b.Fatal(err)
	}
	env := scenarios(b, "bullmq.txtar")[0].env
	for _, name := range []string{"PATH=/usr/bin", "HOME=/root", "HOSTNAME=x", "LANG=C", "PWD=/"} {
		env = append(env, name)
	}
	b.Run("load and check", func(b *testing.B) {
		b.ReportAllocs()
		start := cpu()
		defer func() { b.ReportMetric(float64(cpu()-start)/float64(b.N), "cpu-ns/op") }()
		for b.Loop() {
			c, _ := Load(bytes.NewReader(text))
			if r := c.Check(env); !r.OK() {
				b.Fatal(r.Codes())
			}
		}
	})
	c, _ := Load(bytes.NewReader(text))
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.Check(env)
		}
	})
}
