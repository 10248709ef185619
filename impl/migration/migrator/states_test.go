package migrator

import (
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"

	"github.com/evenkeel/evenkeel/impl/migration"
)

// A flush that has no time for all goes on where the last one ended, whatever fails.
func TestFlushTakesTurns(t *testing.T) {
	client := fake.NewClientset()
	tried := map[string]int{}
	client.PrependReactor("create", "configmaps", func(action clienttesting.Action) (bool, runtime.Object, error) {
		tried[action.(clienttesting.CreateAction).GetObject().(interface{ GetName() string }).GetName()]++
		return true, nil, errors.New("no answer")
	})
	s := newStates(client, ours, klog.NewKlogr())
	for i := range 10 {
		s.change(fmt.Sprintf("g.r%d", i), func(state migration.State) migration.State { return state.Asked("test") })
	}
	for range 5 {
		n := 0
		if !s.flush(t.Context(), func() bool { n++; return n > 4 }) {
			t.Error("nothing is left after four of ten")
		}
	}
	for name, n := range tried {
		if n != 2 {
			t.Errorf("%s was tried %d times in five flushes of four", name, n)
		}
	}
	if len(tried) != 10 {
		t.Errorf("%d of ten were tried", len(tried))
	}
}
