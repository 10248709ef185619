// Evenkeel judges whether a highly available Kubernetes control plane keeps
// the promises of four enhancement proposals while its members are upgraded,
// rolled back, crashed and cut off one by one. See README.md.
package main

import (
	"os"

	"github.com/evenkeel/evenkeel/pkg/command"
)

func main() {
	os.Exit(command.Main(os.Args[1:], os.Stdout, os.Stderr))
}
