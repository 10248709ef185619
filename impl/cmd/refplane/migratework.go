package main

import (
	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/evenkeel/evenkeel/impl/controllermanager"
	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/migration/install"
	"github.com/evenkeel/evenkeel/impl/migration/migrator"
)

// podConfig is how a Pod reaches its control plane: as its ServiceAccount, or
// elsewhere as the kubeconfig that the environment names.
func podConfig(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, err
	}
	config.UserAgent = install.UserAgent
	return config, nil
}

func migrateControllerCommand() *cobra.Command {
	var o controllermanager.Options
	var m controllermanager.Migrator
	var kubeconfig, host string
	command := component("controller", "Launch a Job for each migration; what install deploys", func(command *cobra.Command) error {
		var err error
		if o.Config, err = podConfig(kubeconfig); err != nil {
			return err
		}
		if host, err = hostName(host); err != nil {
			return err
		}
		o.Identity, o.Migrator = host+"_"+uuid.NewString(), &m
		return controllermanager.Run(command.Context(), o)
	}, "namespace", "image")
	flags := command.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", "file that says how to reach the API server (default: as the Pod's ServiceAccount)")
	flags.StringVar(&host, "hostname", "", "name which begins the identity of the candidate (default the host's name)")
	flags.StringVar(&m.Namespace, "namespace", "", "namespace of the Jobs, of the Lease, and of what is remembered")
	flags.StringVar(&m.Jobs.Pod.Image, "image", "", "image that workers run")
	flags.BoolVar(&m.Jobs.Pod.OnControlPlane, "on-control-plane", false, "run workers on nodes of the control plane and in their network")
	flags.Float64Var(&o.MigrationRate, "rate", migration.DefaultRate, "most objects a second that a worker writes")
	flags.BoolVar(&m.Startup, "start", false, "create a migration of each resource that is no custom one, when it begins to work")
	flags.StringVar(&m.Owner, "owner", "", "ClusterRole that owns the migrations which the controller creates (default none)")
	flags.BoolVar(&o.AutomaticMigration, "automatic", false, "migrate a resource as soon as all servers agree on another storage version")
	return command
}

func migrateWorkerCommand() *cobra.Command {
	var o migrator.Options
	var task migrator.Task
	var kubeconfig, uid string
	command := component("worker", "Carry out one migration; what a Job runs", func(command *cobra.Command) error {
		var err error
		if o.Config, err = podConfig(kubeconfig); err != nil {
			return err
		}
		task.UID = types.UID(uid)
		return migrator.Work(command.Context(), o, task)
	}, "namespace", "migration", "uid", "generation")
	flags := command.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", "file that says how to reach the API server (default: as the Pod's ServiceAccount)")
	flags.StringVar(&o.Namespace, "namespace", "", "namespace of the checkpoint")
	flags.StringVar(&task.Migration, "migration", "", "name of the migration")
	flags.StringVar(&uid, "uid", "", "uid of the migration")
	flags.Int64Var(&task.Generation, "generation", 0, "number of the migration among those of its resource")
	flags.Float64Var(&o.Rate, "rate", migration.DefaultRate, "most objects a second that are written")
	return command
}
