package migration

import (
	"testing"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func condition(kind storagemigrationv1.MigrationConditionType, status metav1.ConditionStatus) metav1.Condition {
	return metav1.Condition{Type: string(kind), Status: status, Reason: "Test", LastTransitionTime: metav1.Unix(1, 0)}
}

func TestValidateSpec(t *testing.T) {
	tests := []struct {
		name            string
		group, resource string
		errors          int
	}{
		{"core", "", "configmaps", 0},
		{"custom", "example.com", "widgets", 0},
		{"no resource", "example.com", "", 1},
		{"a subresource", "example.com", "widgets/status", 1},
		{"a group that is no domain", "Example_", "widgets", 1},
	}
	for _, test := range tests {
		spec := storagemigrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: test.group, Resource: test.resource}}
		if errs := ValidateSpec(&spec); len(errs) != test.errors {
			t.Errorf("%s: got %v, want %d errors", test.name, errs, test.errors)
		}
		other := spec
		other.Resource.Resource = "others"
		if len(ValidateSpecUpdate(&other, &spec)) != 1 || len(ValidateSpecUpdate(&spec, &spec)) != 0 {
			t.Errorf("%s: the specification is not immutable", test.name)
		}
	}
}

func TestValidateStatus(t *testing.T) {
	succeeded, failed := condition(storagemigrationv1.MigrationSucceeded, metav1.ConditionTrue), condition(storagemigrationv1.MigrationFailed, metav1.ConditionTrue)
	tests := []struct {
		name    string
		status  storagemigrationv1.StorageVersionMigrationStatus
		invalid bool
	}{
		{"empty", storagemigrationv1.StorageVersionMigrationStatus{}, false},
		{"succeeded", storagemigrationv1.StorageVersionMigrationStatus{Conditions: []metav1.Condition{succeeded}, ResourceVersion: "12"}, false},
		{"both outcomes", storagemigrationv1.StorageVersionMigrationStatus{Conditions: []metav1.Condition{succeeded, failed}}, true},
		{"revision is a word", storagemigrationv1.StorageVersionMigrationStatus{ResourceVersion: "latest"}, true},
		{"revision is zero", storagemigrationv1.StorageVersionMigrationStatus{ResourceVersion: "0"}, true},
	}
	for _, test := range tests {
		if errs := ValidateStatus(&test.status); (len(errs) > 0) != test.invalid {
			t.Errorf("%s: got %v, want invalid %v", test.name, errs, test.invalid)
		}
	}
}

func TestAnOutcomeIsFinal(t *testing.T) {
	failed := condition(storagemigrationv1.MigrationFailed, metav1.ConditionTrue)
	recovered := condition(storagemigrationv1.MigrationFailed, metav1.ConditionFalse)
	tests := []struct {
		name       string
		old, after []metav1.Condition
		before, rv string
		forbidden  bool
	}{
		{"stays", []metav1.Condition{failed}, []metav1.Condition{failed}, "7", "7", false},
		{"is taken back", []metav1.Condition{failed}, []metav1.Condition{recovered}, "", "", true},
		{"is dropped", []metav1.Condition{failed}, nil, "", "", true},
		{"revision is recorded", nil, nil, "", "7", false},
		{"revision changes", nil, nil, "7", "8", true},
		{"revision is dropped", nil, nil, "7", "", true},
	}
	for _, test := range tests {
		errs := ValidateStatusUpdate(
			&storagemigrationv1.StorageVersionMigrationStatus{Conditions: test.after, ResourceVersion: test.rv},
			&storagemigrationv1.StorageVersionMigrationStatus{Conditions: test.old, ResourceVersion: test.before})
		if (len(errs) > 0) != test.forbidden {
			t.Errorf("%s: got %v, want forbidden %v", test.name, errs, test.forbidden)
		}
	}
}
