package observe

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func owns(manager, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(fields)}
}

func TestCoordinatorOf(t *testing.T) {
	entries := []metav1.ManagedFieldsEntry{
		owns("kube-controller-manager@cp1", `{"f:spec":{"f:renewTime":{}}}`),
		owns("kube-apiserver@cp2", `{"f:spec":{"f:holderIdentity":{},"f:strategy":{}}}`),
		owns("kube-apiserver@cp3", `{"f:spec":{"f:preferredHolder":{}}}`),
		owns("kube-apiserver", `{"f:spec":{"f:pingTime":{}}}`),
		owns("kube-apiserver@cp9", `nonsense`),
		{Manager: "kube-apiserver@cp9"},
	}
	for field, want := range map[string]string{"holderIdentity": "cp2", "preferredHolder": "cp3", "renewTime": "", "pingTime": "", "other": ""} {
		if got := coordinatorOf(field, entries); got != want {
			t.Errorf("%s was set by %q, want %q", field, got, want)
		}
	}
	if held, marked := coordinatorOfLease(false, entries), coordinatorOfLease(true, entries); held != "cp2" || marked != "cp3" {
		t.Errorf("given by %q and marked by %q", held, marked)
	}
}

// The owner of the renewTime wrote the last renewal, or gave the Lease up.
func TestRenewerOf(t *testing.T) {
	entries := []metav1.ManagedFieldsEntry{
		owns("kube-controller-manager@cp1", `{"f:spec":{"f:holderIdentity":{}}}`),
		owns("kube-apiserver@cp2", `{"f:spec":{"f:strategy":{}}}`),
		owns("kube-controller-manager@cp3", `{"f:spec":{"f:renewTime":{}}}`),
	}
	for lease, want := range map[string]string{"kube-system/kube-controller-manager": "cp3", "kube-system/kube-scheduler": "", "default/kube-controller-manager": ""} {
		if got := renewerOf(lease, entries); got != want {
			t.Errorf("%s was renewed by %q, want %q", lease, got, want)
		}
	}
	if got := renewerOf("kube-system/kube-controller-manager", []metav1.ManagedFieldsEntry{owns("kube-apiserver@cp2", `{"f:spec":{"f:renewTime":{}}}`)}); got != "" {
		t.Errorf("a coordinator that gave the Lease away counts as %q", got)
	}
}

// Only a manager that writes to an object for the first time is known to have made the change.
func TestLeaderActions(t *testing.T) {
	var entries []metav1.ManagedFieldsEntry
	var before []history.LeaderAction
	for _, step := range []struct {
		manager, host, lease string
	}{
		{"evenkeel", "", ""},
		{"kube-scheduler@cp1", "cp1", "kube-system/kube-scheduler"},
		{"kube-apiserver@cp1", "", ""},
		{"kube-scheduler", "", ""},
		{"kube-scheduler@cp2", "cp2", "kube-system/kube-scheduler"},
		{"kube-controller-manager@cp2", "cp2", "kube-system/kube-controller-manager"},
	} {
		entries = append(entries, owns(step.manager, `{}`))
		now := leaderActions(LeaderActivityNamespace, entries)
		got := fresh(now, before, 7)
		if step.host == "" != (got == nil) {
			t.Errorf("after %s: %+v", step.manager, got)
		} else if got != nil && *got != (history.LeaderAction{Lease: step.lease, Host: step.host, Number: 7}) {
			t.Errorf("after %s: %+v", step.manager, *got)
		}
		before = now
	}
	if fresh(before, nil, 1) != nil {
		t.Error("a change is attributed although several writers may have made it")
	}
	if leaderActions("kube-system", entries) != nil {
		t.Error("it goes by objects of other namespaces")
	}
}
