package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/migration/install"
	"github.com/evenkeel/evenkeel/impl/migration/migrator"
)

func migrateInstallCommand() *cobra.Command {
	var r reached
	var o install.Options
	var dryRun bool
	command := component("install", "Deploy the migrator in a control plane that runs workloads: a controller, and a Job for each migration",
		func(command *cobra.Command) error {
			if err := checkInstall(o); err != nil {
				return err
			}
			if o.Pod.Image == "" {
				image, err := ownImage()
				if err != nil {
					return err
				}
				o.Pod.Image = image
			}
			if dryRun {
				return install.YAML(command.OutOrStdout(), install.Objects(o))
			}
			config, client, err := r.connect()
			if err != nil {
				return err
			}
			objects, err := dynamic.NewForConfig(config)
			if err != nil {
				return err
			}
			if err := install.CheckServed(client); err != nil {
				return err
			}
			if err := install.CheckRival(command.Context(), client, clock.RealClock{}); err != nil {
				return err
			}
			return install.Install(command.Context(), objects, o, teller(command.OutOrStdout()))
		})
	r.add(command)
	flags := command.Flags()
	flags.StringVar(&o.Namespace, "namespace", install.DefaultNamespace, "namespace for the controller, its Jobs and what it remembers")
	flags.StringVar(&o.Pod.Image, "image", "", "image that has this program as /refplane (default the one that Evenkeel's kind nodes are given of this very binary)")
	flags.BoolVar(&o.Pod.OnControlPlane, "on-control-plane", false, "run on nodes of the control plane and in their network, with the API server of the same node, which needs neither a CNI plugin nor kube-proxy")
	flags.Float64Var(&o.Rate, "rate", migration.DefaultRate, "most objects a second that a migration writes; it slows down by itself when servers are busy")
	flags.BoolVar(&o.Automatic, "automatic", false, "migrate a resource as soon as all servers agree on another storage version, and not only when asked")
	flags.BoolVar(&o.Startup, "start", false, "create a migration of each resource that is no custom one, when the controller begins to work")
	flags.BoolVar(&dryRun, "dry-run", false, "print what would be installed as YAML, and look at no control plane")
	return command
}

func checkInstall(o install.Options) error {
	if wrong := validation.IsDNS1123Label(o.Namespace); len(wrong) > 0 {
		return fmt.Errorf("--namespace %q is not a valid name of a namespace: %s", o.Namespace, wrong[0])
	}
	return migrator.ValidateRate(o.Rate)
}

// ownImage is the name of the image that Evenkeel's kind provider makes of this very
// binary; so it is named after its content.
func ownImage() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program to get the name of its image; set the image by --image: %w", err)
	}
	file, err := os.Open(self)
	if err != nil {
		return "", fmt.Errorf("read this program to get the name of its image; set the image by --image: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read this program to get the name of its image; set the image by --image: %w", err)
	}
	return "evenkeel.dev/refplane:" + hex.EncodeToString(sum.Sum(nil)[:6]), nil
}

func migrateUninstallCommand() *cobra.Command {
	var r reached
	var namespace string
	command := component("uninstall", "Remove what install has deployed, with the workers and the migrations that the controller created; those of users stay and wait", func(command *cobra.Command) error {
		config, _, err := r.connect()
		if err != nil {
			return err
		}
		objects, err := dynamic.NewForConfig(config)
		if err != nil {
			return err
		}
		return install.Uninstall(command.Context(), objects, namespace, teller(command.OutOrStdout()))
	})
	r.add(command)
	command.Flags().StringVar(&namespace, "namespace", install.DefaultNamespace, "namespace that it was installed in")
	return command
}

func teller(out io.Writer) func(string, ...any) {
	return func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
}
