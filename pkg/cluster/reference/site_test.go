package reference

import (
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

func TestMigrationRate(t *testing.T) {
	for rate, want := range map[float64]string{0: "", 25: "--migration-rate 25", 0.5: "--migration-rate 0.5"} {
		args, err := Args(cluster.ControllerManager, &Site{Settings: cluster.Settings{MigrationRate: rate}}, "1.2")
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(args, " ")
		if strings.Contains(got, "--migration-rate") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("a rate of %v gives %s", rate, got)
		}
	}
}
