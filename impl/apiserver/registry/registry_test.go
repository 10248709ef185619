package registry

import (
	"testing"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/apis/reference"
	"github.com/evenkeel/evenkeel/impl/apis/scheme"
	"github.com/evenkeel/evenkeel/impl/release"
)

var typer = scheme.New(release.All()[0])

func rulesFor(t *testing.T, resource string) Rules {
	t.Helper()
	object, _ := StorageVersions()
	for _, group := range [][]Rules{Core(), {Leases(true), LeaseCandidates()}, Discovery(), Reference(), {object}} {
		for _, rules := range group {
			if rules.Resource.Resource == resource {
				return rules
			}
		}
	}
	t.Fatalf("there are no rules for %s", resource)
	return Rules{}
}

func TestValidate(t *testing.T) {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: "default"} }
	tests := []struct {
		name     string
		resource string
		obj      runtime.Object
		errors   int
	}{
		{"config map", "configmaps", &corev1.ConfigMap{ObjectMeta: meta("a"), Data: map[string]string{"k": "v"}}, 0},
		{"config map with a bad key", "configmaps", &corev1.ConfigMap{ObjectMeta: meta("a"), Data: map[string]string{"k/": "v"}}, 1},
		{"config map with a key twice", "configmaps", &corev1.ConfigMap{ObjectMeta: meta("a"), Data: map[string]string{"k": "v"}, BinaryData: map[string][]byte{"k": nil}}, 1},
		{"config map with a bad name", "configmaps", &corev1.ConfigMap{ObjectMeta: meta("A")}, 1},
		{"lease", "leases", &coordinationv1.Lease{ObjectMeta: meta("a")}, 0},
		{"lease without duration", "leases", &coordinationv1.Lease{ObjectMeta: meta("a"), Spec: coordinationv1.LeaseSpec{LeaseDurationSeconds: ptr.To[int32](0)}}, 1},
		{"lease with negative transitions", "leases", &coordinationv1.Lease{ObjectMeta: meta("a"), Spec: coordinationv1.LeaseSpec{LeaseTransitions: ptr.To[int32](-1)}}, 1},
		{"external service", "services", &corev1.Service{ObjectMeta: meta("a"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"}}, 0},
		{"external service without name", "services", &corev1.Service{ObjectMeta: meta("a"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName}}, 1},
		{"service without ports", "services", &corev1.Service{ObjectMeta: meta("a"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP}}, 1},
		{"ballast", "ballasts", &reference.Ballast{ObjectMeta: meta("a"), Spec: reference.BallastSpec{Kilograms: 1, Position: "aft"}}, 0},
		{"empty ballast", "ballasts", &reference.Ballast{ObjectMeta: meta("a")}, 0},
		{"negative ballast nowhere", "ballasts", &reference.Ballast{ObjectMeta: meta("a"), Spec: reference.BallastSpec{Kilograms: -1, Position: "nowhere"}}, 2},
		{"storage version", "storageversions", &apiserverinternalv1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Name: "core.configmaps"}}, 0},
		{"storage version without group", "storageversions", &apiserverinternalv1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Name: "configmaps"}}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			errs := newStrategy(typer, rulesFor(t, test.resource)).Validate(t.Context(), test.obj)
			if len(errs) != test.errors {
				t.Errorf("got %d errors, want %d: %v", len(errs), test.errors, errs)
			}
		})
	}
}

func TestImmutable(t *testing.T) {
	before := &corev1.ConfigMap{Immutable: ptr.To(true), Data: map[string]string{"k": "v"}}
	after := before.DeepCopy()
	after.Data["k"] = "w"
	strategy := newStrategy(typer, rulesFor(t, "configmaps"))
	if errs := strategy.ValidateUpdate(t.Context(), after, before); len(errs) != 1 {
		t.Errorf("changing an immutable config map gives %v, want one error", errs)
	}
	if errs := strategy.ValidateUpdate(t.Context(), before.DeepCopy(), before); len(errs) != 0 {
		t.Errorf("leaving it alone gives %v", errs)
	}
}

func TestGenerationCountsChangesOfTheSpecification(t *testing.T) {
	strategy := newStrategy(typer, rulesFor(t, "ballasts"))
	obj := &reference.Ballast{}
	strategy.PrepareForCreate(t.Context(), obj)
	if obj.Generation != 1 {
		t.Fatalf("generation at the start is %d, want 1", obj.Generation)
	}
	labeled := obj.DeepCopy()
	labeled.Labels = map[string]string{"a": "b"}
	labeled.Generation = 40
	strategy.PrepareForUpdate(t.Context(), labeled, obj)
	if labeled.Generation != 1 {
		t.Errorf("generation after a change of labels is %d, want 1", labeled.Generation)
	}
	heavier := obj.DeepCopy()
	heavier.Spec.Kilograms = 5
	strategy.PrepareForUpdate(t.Context(), heavier, obj)
	if heavier.Generation != 2 {
		t.Errorf("generation after a change of weight is %d, want 2", heavier.Generation)
	}
}

func reporting(version string) apiserverinternalv1alpha1.StorageVersionStatus {
	return apiserverinternalv1alpha1.StorageVersionStatus{StorageVersions: []apiserverinternalv1alpha1.ServerStorageVersion{{
		APIServerID: "a", EncodingVersion: version, DecodableVersions: []string{version},
	}}}
}

func TestStorageVersionStatusChangesThroughItsSubresourceOnly(t *testing.T) {
	objectRules, statusRules := StorageVersions()
	object, status := newStrategy(typer, objectRules), newStrategy(typer, statusRules)

	created := &apiserverinternalv1alpha1.StorageVersion{Status: reporting("v1")}
	object.PrepareForCreate(t.Context(), created)
	if len(created.Status.StorageVersions) != 0 {
		t.Error("a status was created with the object")
	}

	before := &apiserverinternalv1alpha1.StorageVersion{Status: reporting("v1")}
	before.Name = "core.configmaps"
	after := before.DeepCopy()
	after.Status = reporting("v2")
	after.Labels = map[string]string{"a": "b"}
	byObject := after.DeepCopy()
	object.PrepareForUpdate(t.Context(), byObject, before)
	if got := byObject.Status.StorageVersions[0].EncodingVersion; got != "v1" {
		t.Errorf("an update of the object changed the status to %s", got)
	}
	if byObject.Labels["a"] != "b" {
		t.Error("an update of the object did not change its labels")
	}

	byStatus := after.DeepCopy()
	byStatus.ResourceVersion = "7"
	status.PrepareForUpdate(t.Context(), byStatus, before)
	if got := byStatus.Status.StorageVersions[0].EncodingVersion; got != "v2" {
		t.Errorf("an update of the status left it at %s", got)
	}
	if len(byStatus.Labels) != 0 || byStatus.ResourceVersion != "7" {
		t.Errorf("an update of the status made the metadata %+v", byStatus.ObjectMeta)
	}

	for name, s := range map[string]strategy{"object": object, "status": status} {
		if s.AllowUnconditionalUpdate(t.Context()) {
			t.Errorf("%s: an update without resourceVersion is accepted", name)
		}
		if s.AllowCreateOnUpdate(t.Context()) {
			t.Errorf("%s: an update creates", name)
		}
	}
}

func TestStorageVersionStatusIsValidated(t *testing.T) {
	_, rules := StorageVersions()
	strategy := newStrategy(typer, rules)
	bad := &apiserverinternalv1alpha1.StorageVersion{Status: reporting("v1")}
	bad.Status.StorageVersions[0].DecodableVersions = []string{"v2"}
	if errs := strategy.ValidateUpdate(t.Context(), bad, &apiserverinternalv1alpha1.StorageVersion{}); len(errs) == 0 {
		t.Error("a server that cannot read what it writes is accepted")
	}
	// KEP-2339 speaks of all participating servers: one that has not reported
	// forbids agreement although all entries are equal.
	if errs := strategy.ValidateUpdate(t.Context(), &apiserverinternalv1alpha1.StorageVersion{Status: reporting("v1")}, &apiserverinternalv1alpha1.StorageVersion{}); len(errs) != 0 {
		t.Errorf("an agreement that is left open is refused: %v", errs)
	}
}

func TestAMigrationIsRunByItsStatusOnly(t *testing.T) {
	objectRules, statusRules := StorageMigrations()
	object, status := newStrategy(typer, objectRules), newStrategy(typer, statusRules)
	finished := storagemigrationv1.StorageVersionMigrationStatus{ResourceVersion: "7"}

	created := &storagemigrationv1.StorageVersionMigration{Status: finished}
	object.PrepareForCreate(t.Context(), created)
	if created.Status.ResourceVersion != "" || created.Generation != 1 {
		t.Errorf("created with %+v", created)
	}
	before := &storagemigrationv1.StorageVersionMigration{Spec: storagemigrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Resource: "configmaps"}}}
	after := before.DeepCopy()
	after.Status, after.Spec.Resource.Resource = finished, "secrets"

	byObject := after.DeepCopy()
	object.PrepareForUpdate(t.Context(), byObject, before)
	if byObject.Status.ResourceVersion != "" {
		t.Error("an update of the object changed the status")
	}
	if errs := object.ValidateUpdate(t.Context(), byObject, before); len(errs) != 1 {
		t.Errorf("changing the resource gives %v, want one error", errs)
	}
	byStatus := after.DeepCopy()
	status.PrepareForUpdate(t.Context(), byStatus, before)
	if byStatus.Spec.Resource.Resource != "configmaps" || byStatus.Status.ResourceVersion != "7" {
		t.Errorf("an update of the status made %+v", byStatus)
	}
	if errs := status.ValidateUpdate(t.Context(), before.DeepCopy(), byStatus); len(errs) != 1 {
		t.Errorf("taking the revision back gives %v, want one error", errs)
	}
}
