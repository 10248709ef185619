package local

import (
	"os"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster/local/fakeplane"
	refplane "github.com/evenkeel/evenkeel/pkg/cluster/reference"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

func TestMain(m *testing.M) {
	fakeplane.Main()
	os.Exit(m.Run())
}

// useFake makes this test's clusters run the fake, in a state folder of the
// test's own, which it returns.
func useFake(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	t.Setenv(fakeplane.Variable, "1")
	t.Setenv(refplane.Variable, self)
	t.Setenv(state.RootVariable, root)
	return root
}
