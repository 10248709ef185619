package install

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/migration/workload"
)

var chosen = Options{Namespace: "ours", Pod: workload.Pod{Image: "image:1"}, Rate: 8}

// lines collects what is told.
type lines []string

func (l *lines) tell(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

func TestYAMLIsWhatIsInstalled(t *testing.T) {
	var out bytes.Buffer
	if err := YAML(&out, Objects(chosen)); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, document := range strings.Split(out.String(), "---\n")[1:] {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatal(err)
		}
		gvk := object.GroupVersionKind()
		typed, err := scheme.Scheme.New(gvk)
		if err != nil {
			t.Fatal(err)
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, typed, true); err != nil {
			t.Errorf("%s %s: %v", gvk.Kind, object.GetName(), err)
		}
		if resources[gvk.Kind] == "" || object.GetLabels()[ManagedLabel] != Manager {
			t.Errorf("%s %s cannot be installed, or removed again", gvk.Kind, object.GetName())
		}
		kinds = append(kinds, gvk.Kind)
	}
	want := []string{"Namespace", "ServiceAccount", "ServiceAccount", "ClusterRole", "ClusterRole", "ClusterRoleBinding", "ClusterRoleBinding",
		"Role", "Role", "RoleBinding", "RoleBinding", "Deployment"}
	if !slices.Equal(kinds, want) {
		t.Errorf("got %q", kinds)
	}
	for _, needless := range []string{"creationTimestamp", "status: {}", "strategy"} {
		if strings.Contains(out.String(), needless) {
			t.Errorf("the YAML has %q", needless)
		}
	}
}

// rules of an account, all that it may do, as "verb group/resource", for the whole
// control plane and for the namespace.
func rights(t *testing.T, o Options, account string) (all, own []string) {
	t.Helper()
	for _, object := range Objects(o) {
		var rules []rbacv1.PolicyRule
		into := &own
		switch role := object.(type) {
		case *rbacv1.ClusterRole:
			if role.Name == clusterName(account, o.Namespace) {
				rules, into = role.Rules, &all
			}
		case *rbacv1.Role:
			if role.Name == account && role.Namespace == o.Namespace {
				rules = role.Rules
			}
		}
		for _, rule := range rules {
			for _, verb := range rule.Verbs {
				for _, resource := range rule.Resources {
					*into = append(*into, verb+" "+rule.APIGroups[0]+"/"+resource)
				}
			}
		}
	}
	slices.Sort(all)
	slices.Sort(own)
	return all, own
}

func TestRights(t *testing.T) {
	for _, test := range []struct {
		account  string
		all, own []string
	}{
		{workload.ControllerAccount, []string{
			"get apiextensions.k8s.io/customresourcedefinitions", "get internal.apiserver.k8s.io/storageversions", "get storagemigration.k8s.io/storageversionmigrations",
			"list apiextensions.k8s.io/customresourcedefinitions", "list internal.apiserver.k8s.io/storageversions", "list storagemigration.k8s.io/storageversionmigrations",
			"update apiextensions.k8s.io/customresourcedefinitions/status", "update storagemigration.k8s.io/storageversionmigrations/status",
			"watch apiextensions.k8s.io/customresourcedefinitions", "watch internal.apiserver.k8s.io/storageversions", "watch storagemigration.k8s.io/storageversionmigrations",
		}, []string{
			"create /configmaps", "create batch/jobs", "create coordination.k8s.io/leases", "delete /configmaps", "delete batch/jobs",
			"get /configmaps", "get coordination.k8s.io/leases", "list /configmaps", "list batch/jobs",
			"update /configmaps", "update coordination.k8s.io/leases", "watch batch/jobs",
		}},
		{workload.WorkerAccount, []string{
			"get apiextensions.k8s.io/customresourcedefinitions", "get internal.apiserver.k8s.io/storageversions", "get storagemigration.k8s.io/storageversionmigrations",
			"list */*", "update */*",
			"watch internal.apiserver.k8s.io/storageversions", "watch storagemigration.k8s.io/storageversionmigrations",
		}, []string{"get /configmaps"}},
	} {
		all, own := rights(t, chosen, test.account)
		if !slices.Equal(all, test.all) || !slices.Equal(own, test.own) {
			t.Errorf("%s may\n%q\nand in its namespace\n%q", test.account, all, own)
		}
	}
	automatic := chosen
	automatic.Automatic = true
	if all, _ := rights(t, automatic, workload.ControllerAccount); !slices.Contains(all, "create storagemigration.k8s.io/storageversionmigrations") {
		t.Error("the controller may not create migrations although they are automatic")
	}
}

func object(kind, version, namespace, name string, labels map[string]string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind}}
	o.SetNamespace(namespace)
	o.SetName(name)
	o.SetLabels(labels)
	return o
}

func fakeClient(objects ...runtime.Object) *dynamicfake.FakeDynamicClient {
	return dynamicfake.NewSimpleDynamicClient(scheme.Scheme, objects...)
}

// there are the names of what exists.
func there(t *testing.T, client *dynamicfake.FakeDynamicClient, resource schema.GroupVersionResource) (names []string) {
	t.Helper()
	list, err := client.Resource(resource).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		names = append(names, list.Items[i].GetName())
	}
	return names
}

func TestInstallAndUninstall(t *testing.T) {
	worker := map[string]string{workload.RoleLabel: workload.WorkerRole}
	record := map[string]string{migration.RecordLabel: migration.StateRecord}
	client := fakeClient()
	// Installing anew replaces the Deployment, and the owner of the migrations.
	for _, replaced := range []int{0, 2} {
		var told lines
		if err := Install(t.Context(), client, chosen, told.tell); err != nil {
			t.Fatal(err)
		}
		if len(told) != replaced+len(Objects(chosen)) || !strings.HasSuffix(told[len(told)-1], "created") {
			t.Errorf("told %q", told)
		}
	}
	for resource, o := range map[schema.GroupVersionResource]*unstructured.Unstructured{
		{Group: "batch", Version: "v1", Resource: "jobs"}: object("Job", "batch/v1", "ours", "worker", worker),
		{Version: "v1", Resource: "configmaps"}:           object("ConfigMap", "v1", "ours", "state", record),
		{Version: "v1", Resource: "serviceaccounts"}:      object("ServiceAccount", "v1", "ours", "unrelated", nil),
	} {
		if _, err := client.Resource(resource).Namespace("ours").Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	var told lines
	if err := Uninstall(t.Context(), client, "ours", told.tell); err != nil {
		t.Fatal(err)
	}
	if len(told) != len(Objects(chosen)) || !strings.HasPrefix(told[0], "Deployment") {
		t.Errorf("told %q", told)
	}
	for _, resource := range []schema.GroupVersionResource{
		{Version: "v1", Resource: "namespaces"}, {Group: "apps", Version: "v1", Resource: "deployments"}, {Group: "batch", Version: "v1", Resource: "jobs"},
		{Version: "v1", Resource: "configmaps"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}} {
		if left := there(t, client, resource); len(left) > 0 {
			t.Errorf("%s are left: %q", resource.Resource, left)
		}
	}
	if left := there(t, client, schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}); !slices.Equal(left, []string{"unrelated"}) {
		t.Errorf("ServiceAccounts are left: %q", left)
	}
	if err := Uninstall(t.Context(), client, "ours", told.tell); err == nil || !strings.Contains(err.Error(), "nothing is installed") {
		t.Errorf("what is not there is removed: %v", err)
	}
}

// The migrations that a controller has created go with it, and those of users stay.
func TestOwnedMigrationsGoWithTheController(t *testing.T) {
	migrationsOf := schema.GroupVersionResource{Group: "storagemigration.k8s.io", Version: "v1", Resource: "storageversionmigrations"}
	for name, act := range map[string]func(*dynamicfake.FakeDynamicClient) error{
		"uninstalled": func(c *dynamicfake.FakeDynamicClient) error {
			return Uninstall(t.Context(), c, "ours", (&lines{}).tell)
		},
		"installed again": func(c *dynamicfake.FakeDynamicClient) error { return Install(t.Context(), c, chosen, (&lines{}).tell) },
	} {
		t.Run(name, func(t *testing.T) {
			client := fakeClient()
			if err := Install(t.Context(), client, chosen, (&lines{}).tell); err != nil {
				t.Fatal(err)
			}
			for name, owner := range map[string]string{"owned": clusterName(workload.ControllerAccount, "ours"), "of another one": clusterName(workload.ControllerAccount, "theirs"), "of a user": ""} {
				svm := object("StorageVersionMigration", "storagemigration.k8s.io/v1", "", name, nil)
				if owner != "" {
					svm.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: owner, UID: "1"}})
				}
				if _, err := client.Resource(migrationsOf).Create(t.Context(), svm, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if err := act(client); err != nil {
				t.Fatal(err)
			}
			if left := there(t, client, migrationsOf); !slices.Equal(left, []string{"of a user", "of another one"}) {
				t.Errorf("left are %q", left)
			}
		})
	}
}

func TestWhatIsSomebodyElsesStays(t *testing.T) {
	client := fakeClient(object("Namespace", "v1", "", "ours", nil))
	var told lines
	if err := Install(t.Context(), client, chosen, told.tell); err != nil {
		t.Fatal(err)
	}
	if err := Uninstall(t.Context(), client, "ours", told.tell); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(t.Context(), "ours", metav1.GetOptions{}); err != nil {
		t.Errorf("the namespace: %v", err)
	}

	client = fakeClient(object("Deployment", "apps/v1", "ours", workload.ControllerAccount, nil))
	if err := Install(t.Context(), client, chosen, told.tell); err == nil || !strings.Contains(err.Error(), "was not installed by this command") {
		t.Errorf("Install replaces the Deployment of another user: %v", err)
	}
	if apierrors.IsNotFound(Uninstall(t.Context(), client, "ours", told.tell)) {
		t.Error("what is not there is no error of a server")
	}
	if left := there(t, client, schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}); len(left) != 1 {
		t.Error("Uninstall deletes the Deployment of another user")
	}
}
