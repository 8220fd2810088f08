// Yardstick loads the compose files that are its arguments with compose-go, as
// docker compose config does, and judges nothing.
package main

import (
	"context"
	"os"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

func main() {
	named := func(o *loader.Options) { o.SetProjectName("stack", true) }
	_, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir: ".", ConfigFiles: types.ToConfigFiles(os.Args[1:]), Environment: types.Mapping{},
	}, named)
	if err != nil {
		os.Exit(1)
	}
}
