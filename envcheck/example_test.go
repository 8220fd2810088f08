package envcheck_test

import (
	"fmt"
	"strings"

	"github.com/startgate/startgate/envcheck"
)

// A worker's own tests can hold its deployments against its contract.
func Example() {
	contract, faults := envcheck.Load(strings.NewReader(`
contract: 1
name: mailer
keys:
  QUEUE_URL:   {type: redis_url, required: true, topic: redis, purpose: queue config}
  WORKERS:     {type: int, min: 1, default: "4"}
  HEALTH_PORT: {type: port, default: "9100"}
  ADMIN_PORT:  {type: port, default: "9101"}
rules:
  - {code: ports_not_distinct, distinct: [HEALTH_PORT, ADMIN_PORT]}
`))
	for _, d := range faults {
		fmt.Println(string(d.AppendText(nil)))
	}
	result := contract.Check(envcheck.Environ{"QUEUE_URL=redis://redis:6379/0", "WORKERS=1e+01", "ADMIN_PORT=9100"})
	fmt.Println("OK:", result.OK())
	for _, code := range result.Codes() {
		fmt.Println(code)
	}
	// Output:
	// OK: false
	// workers_invalid[WORKERS]/not_integer
	// ports_not_distinct[HEALTH_PORT,ADMIN_PORT]
}
