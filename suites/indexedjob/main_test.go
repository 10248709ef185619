package indexedjob

import (
	"os"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/command"
	"github.com/evenkeel/evenkeel/pkg/conformance/fakerun"
)

// The test binary is the evenkeel of the Pods: `evenkeel conformance line` itself, which
// starts `evenkeel run` as a process, which is the fake.
func TestMain(m *testing.M) {
	fakerun.Main()
	if len(os.Args) > 1 && os.Args[1] == "conformance" {
		os.Exit(command.Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
