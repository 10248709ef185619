package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/migration/install"
	"github.com/evenkeel/evenkeel/impl/migration/migrator"
	"github.com/evenkeel/evenkeel/impl/migration/published"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// migrateRequestBound is how long a request of these commands may take.
const migrateRequestBound = 15 * time.Second

// exitNotMigrated is the exit status of `migrate progress` while something is
// left to migrate, for scripts that wait before an upgrade.
const exitNotMigrated = 1

var errNotMigrated = errors.New("not everything is migrated")

// migrateCommand is what KEP-25 calls kube-migrator.
func migrateCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "migrate",
		Short: "Migrate stored objects to the version that all API servers agree on",
		Args:  cobra.NoArgs,
		RunE:  func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(migrateStartCommand(), migrateProgressCommand(), migrateAbortCommand(),
		migrateInstallCommand(), migrateUninstallCommand(), migrateControllerCommand(), migrateWorkerCommand())
	return command
}

// reached are the flags that say which control plane is meant.
type reached struct{ kubeconfig, context string }

func (r *reached) add(command *cobra.Command) {
	command.Flags().StringVar(&r.kubeconfig, "kubeconfig", "", "file that says how to reach the API server")
	command.Flags().StringVar(&r.context, "context", "", "context of the kubeconfig (default its current one)")
}

func (r *reached) connect() (*rest.Config, kubernetes.Interface, error) {
	// KEP-25: the tool uses the same kubeconfig as kubectl does.
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = r.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: r.context}).ClientConfig()
	if err != nil {
		return nil, nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	config.UserAgent = install.UserAgent
	config.Timeout = migrateRequestBound
	client, err := kubernetes.NewForConfig(config)
	return config, client, err
}

// chosen are the flags that say which resources are meant.
type chosen struct {
	resources []string
	all       bool
}

func (c *chosen) add(command *cobra.Command) {
	command.Flags().StringSliceVar(&c.resources, "resource", nil, "plural name and group of a resource, such as widgets.example.com; may be repeated")
	command.Flags().BoolVar(&c.all, "all", false, "all resources")
}

func (c *chosen) check() error {
	if c.all == (len(c.resources) > 0) {
		return errors.New("either --resource or --all is required")
	}
	return nil
}

func (c *chosen) has(resource schema.GroupResource) bool {
	return c.all || slices.Contains(c.resources, resource.String())
}

func migrateStartCommand() *cobra.Command {
	var r reached
	var c chosen
	command := component("start", "Ask for migrations; those under way are left alone", func(command *cobra.Command) error {
		if err := c.check(); err != nil {
			return err
		}
		config, client, err := r.connect()
		if err != nil {
			return err
		}
		return start(command, config, client, c)
	}, "kubeconfig")
	r.add(command)
	c.add(command)
	return command
}

// start creates a migration for each chosen resource that has none under way.
func start(command *cobra.Command, config *rest.Config, client kubernetes.Interface, c chosen) error {
	ctx, out := command.Context(), command.OutOrStdout()
	targets, err := migrator.Targets(ctx, config)
	if err != nil {
		return err
	}
	resources, err := startable(ctx, client, targets, c)
	if err != nil {
		return err
	}
	migrations := published.For(client)
	list, err := migrations.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the migrations: %w", err)
	}
	open := map[schema.GroupResource]string{}
	for i := range list.Items {
		if svm := &list.Items[i]; !migration.Finished(svm) {
			open[migration.ResourceOf(svm)] = svm.Name
		}
	}
	for _, resource := range resources {
		if name, underWay := open[resource]; underWay {
			fmt.Fprintf(out, "%s: %s is running\n", resource, name)
			continue
		}
		svm, err := migrations.Create(ctx, &storagemigrationv1.StorageVersionMigration{
			ObjectMeta: metav1.ObjectMeta{
				GenerateName: storageversion.Name(resource.Group, resource.Resource) + "-",
				Annotations:  map[string]string{migration.ReasonAnnotation: "asked for with refplane migrate start"},
			},
			Spec: storagemigrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: resource.Group, Resource: resource.Resource}},
		}, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("create a migration of %s: %w", resource, err)
		}
		fmt.Fprintf(out, "%s: created %s\n", resource, svm.Name)
	}
	return nil
}

// startable returns the chosen resources. --all chooses those whose storage version is
// announced: without an announcement a migrator cannot tell when a resource is migrated.
func startable(ctx context.Context, client kubernetes.Interface, targets migration.Targets, c chosen) ([]schema.GroupResource, error) {
	var resources []schema.GroupResource
	if !c.all {
		for _, name := range c.resources {
			resource := schema.ParseGroupResource(name)
			target, found, _ := targets.Find(resource)
			if !found {
				return nil, fmt.Errorf("no API server serves %q; --resource takes a plural name and a group, such as widgets.example.com", name)
			}
			if err := target.Migratable(); err != nil {
				return nil, err
			}
			resources = append(resources, resource)
		}
		return resources, nil
	}
	versions, err := client.InternalV1alpha1().StorageVersions().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list the storage versions: %w", err)
	}
	announced := map[schema.GroupResource]bool{}
	for i := range versions.Items {
		if group, resource, ok := storageversion.ParseName(versions.Items[i].Name); ok {
			announced[schema.GroupResource{Group: group, Resource: resource}] = true
		}
	}
	for _, target := range targets.All() {
		if announced[target.Resource] {
			resources = append(resources, target.Resource)
		}
	}
	return resources, nil
}

func migrateAbortCommand() *cobra.Command {
	var r reached
	var c chosen
	command := component("abort", "Delete migrations that have not ended, which stops them", func(command *cobra.Command) error {
		if err := c.check(); err != nil {
			return err
		}
		_, client, err := r.connect()
		if err != nil {
			return err
		}
		return abort(command, client, c)
	}, "kubeconfig")
	r.add(command)
	c.add(command)
	return command
}

func abort(command *cobra.Command, client kubernetes.Interface, c chosen) error {
	ctx := command.Context()
	migrations := published.For(client)
	list, err := migrations.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the migrations: %w", err)
	}
	aborted := 0
	for i := range list.Items {
		svm := &list.Items[i]
		resource := migration.ResourceOf(svm)
		if migration.Finished(svm) || !c.has(resource) {
			continue
		}
		if err := migrations.Delete(ctx, svm.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &svm.UID}}); err != nil {
			return fmt.Errorf("delete migration %s: %w", svm.Name, err)
		}
		aborted++
		fmt.Fprintf(command.OutOrStdout(), "%s: deleted %s\n", resource, svm.Name)
	}
	if aborted == 0 {
		fmt.Fprintln(command.OutOrStdout(), "no migration was under way")
	}
	return nil
}
