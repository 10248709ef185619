package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/evenkeel/evenkeel/impl/migration"
)

func TestLayout(t *testing.T) {
	widgets, gadgets := schema.GroupResource{Group: "g", Resource: "widgets"}, schema.GroupResource{Resource: "gadgets"}
	rows := []migration.Progress{
		{Resource: gadgets, Phase: migration.PhaseDone, Generation: 1, CompletedGeneration: 1, Detail: "stored as v1"},
		{Resource: widgets, Phase: migration.PhaseRunning, Generation: 2, CompletedGeneration: 1, Done: 5, Total: 20, Detail: "5 of 20"},
	}
	tests := []struct {
		name string
		bars bool
		want []string
	}{
		{"lines", false, []string{
			"RESOURCE   STATE    GENERATION  COMPLETED  OBJECTS  DETAIL",
			"gadgets    done     1           1                   stored as v1",
			"widgets.g  running  2           1          5/20     5 of 20",
			"1 of 2 resources are migrated"}},
		{"bars", true, []string{
			"RESOURCE   STATE    GENERATION  COMPLETED  OBJECTS                          DETAIL",
			"gadgets    done     1           1                                           stored as v1",
			"widgets.g  running  2           1          [======                  ]  25%  5 of 20",
			"1 of 2 resources are migrated"}},
	}
	for _, test := range tests {
		if got := layout(rows, test.bars); !slices.Equal(got, test.want) {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
	var out bytes.Buffer
	screen := newScreen(&out)
	screen.draw(rows)
	screen.draw(rows)
	if got := strings.Count(out.String(), "\n"); got != 4 {
		t.Errorf("what has not changed is shown again: %d lines", got)
	}
}

func TestAbortDeletesWhatHasNotEnded(t *testing.T) {
	migrationOf := func(name, resource string, succeeded bool) *storagemigrationv1.StorageVersionMigration {
		svm := &storagemigrationv1.StorageVersionMigration{ObjectMeta: metav1.ObjectMeta{Name: name}}
		svm.Spec.Resource = metav1.GroupResource{Group: "g", Resource: resource}
		if succeeded {
			svm.Status.Conditions = []metav1.Condition{{Type: string(storagemigrationv1.MigrationSucceeded), Status: metav1.ConditionTrue}}
		}
		return svm
	}
	client := fake.NewClientset(migrationOf("done", "widgets", true), migrationOf("open", "widgets", false), migrationOf("other", "gadgets", false))
	command := migrateAbortCommand()
	command.SetContext(t.Context())
	var out bytes.Buffer
	command.SetOut(&out)
	if err := abort(command, client, chosen{resources: []string{"widgets.g"}}); err != nil {
		t.Fatal(err)
	}
	list, err := client.StoragemigrationV1().StorageVersionMigrations().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for i := range list.Items {
		left = append(left, list.Items[i].Name)
	}
	if slices.Sort(left); !slices.Equal(left, []string{"done", "other"}) || !strings.Contains(out.String(), "deleted open") {
		t.Errorf("left are %v: %s", left, out.String())
	}
}

func TestEitherSomeOrAllAreChosen(t *testing.T) {
	for _, test := range []struct {
		chosen chosen
		ok     bool
	}{{chosen{}, false}, {chosen{all: true}, true}, {chosen{resources: []string{"a"}}, true}, {chosen{all: true, resources: []string{"a"}}, false}} {
		if err := test.chosen.check(); (err == nil) != test.ok {
			t.Errorf("%+v: %v", test.chosen, err)
		}
	}
}
