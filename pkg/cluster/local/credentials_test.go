package local

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/credential"
)

// Whatever lies in the cluster's folder that opens it is told, also what was made late.
func TestCredentials(t *testing.T) {
	root := useFake(t)
	c := newCluster(t, 3, cluster.Options{})
	before, err := c.Credentials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	heal, err := c.FaultHTTP("cp2", cluster.ControllerManager, cluster.HTTPFault{Abort: true}, func(cluster.HTTPExchange) {})
	if err != nil {
		t.Fatal(err)
	}
	defer heal()
	told, err := c.Credentials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(told) != len(before)+1 {
		t.Errorf("%d credentials are told of after the interceptor was made, and %d before", len(told), len(before))
	}
	files := 0
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		held, err := credential.File(filepath.Base(path), raw)
		if err != nil {
			return err
		}
		if wanted := strings.HasSuffix(path, ".key") || strings.HasSuffix(path, "kubeconfig"); wanted && len(held) == 0 {
			t.Errorf("%s holds no credential", path)
		}
		for _, one := range held {
			files++
			if !slices.ContainsFunc(told, one.Same) {
				t.Errorf("the credentials lack %s", one)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Errorf("only %d credentials are in the cluster's folder", files)
	}
	for _, m := range c.Members() {
		if !slices.ContainsFunc(told, func(one credential.Credential) bool { return strings.Contains(one.What(), m.Name+"-apiserver") }) {
			t.Errorf("nothing of %s is told", m.Name)
		}
	}
}
