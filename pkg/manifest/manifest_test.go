package manifest

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestYAML_LeavesOutWhatTheServerSets(t *testing.T) {
	namespace := &corev1.Namespace{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: "x"},
		Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}
	one := "---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: x\nspec: {}\n"
	if got, err := YAML(namespace, namespace); err != nil || string(got) != one+one {
		t.Errorf("got %q, %v, want %q twice", got, err, one)
	}
	if _, err := YAML(func() {}); err == nil {
		t.Error("a function was written")
	}
}
