package e2eframework

import (
	"fmt"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// GetKubeconfig implements support.E2EClusterProvider: the file has one context
// for each member, named after it, and the first member's is the current one. It
// is empty while there is no cluster.
func (c *Cluster) GetKubeconfig() string {
	up, err := c.running()
	if err != nil {
		return ""
	}
	return up.kubeconfig
}

// GetKubectlContext implements support.E2EClusterProvider: it is the first
// member's name, and empty while there is no cluster.
func (c *Cluster) GetKubectlContext() string {
	up, err := c.running()
	if err != nil {
		return ""
	}
	return up.first
}

// GenerateKubeconfig implements support.E2EClusterProvider: it writes the
// kubeconfig anew, with the member that the one argument names as the current
// context, and returns the file's path. Without argument it is the first
// member's. The file lives until Destroy.
func (c *Cluster) GenerateKubeconfig(args ...string) (string, error) {
	up, err := c.running()
	if err != nil {
		return "", err
	}
	if len(args) > 1 {
		return "", fmt.Errorf("GenerateKubeconfig takes the name of one member but was given %q", args)
	}
	file, member := up.kubeconfig, up.first
	if len(args) == 1 {
		if _, err := up.member(args[0]); err != nil {
			return "", err
		}
		member = args[0]
		file = filepath.Join(filepath.Dir(up.kubeconfig), member+".kubeconfig")
	}
	return file, writeKubeconfig(file, up.Cluster.(cluster.KubeconfigWriter).Kubeconfig(), member)
}

// writeKubeconfig copies the provider's file with one member's context as the
// current one.
func writeKubeconfig(file, of, member string) error {
	config, err := clientcmd.LoadFromFile(of)
	if err != nil {
		return fmt.Errorf("cannot read the cluster's kubeconfig: %w", err)
	}
	if config.Contexts[member] == nil {
		return fmt.Errorf("the cluster's kubeconfig %s has no context for member %s", of, member)
	}
	// Paths in it begin at the file that is read, not at the one that is written.
	if err := clientcmd.ResolveLocalPaths(config); err != nil {
		return fmt.Errorf("cannot resolve the paths in the kubeconfig %s: %w", of, err)
	}
	config.CurrentContext = member
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		return fmt.Errorf("cannot write a kubeconfig: %w", err)
	}
	return nil
}
