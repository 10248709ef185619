package acting

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel/evenkeel/impl/election/candidacy"
)

func TestKeep_ActsOnlyWhileItLeads(t *testing.T) {
	client := fake.NewClientset()
	clk := clocktesting.NewFakeClock(time.Now())
	var deposed atomic.Bool
	var asked atomic.Int64
	term := candidacy.Term{Lease: "ns/l", Holder: "me", Version: "1.2.0", Number: 7, Leading: func() error {
		asked.Add(1)
		if deposed.Load() {
			return errors.New("deposed")
		}
		return nil
	}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Keep(ctx, client, term, clk, klog.Background())
	}()
	last := func() Action {
		var action Action
		if made, err := client.CoreV1().ConfigMaps("ns").Get(t.Context(), prefix+"l", metav1.GetOptions{}); err == nil {
			if err := json.Unmarshal([]byte(made.Annotations[Annotation]), &action); err != nil {
				t.Fatal(err)
			}
		}
		return action
	}
	until := func(what string, is func() bool) {
		t.Helper()
		if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) { return is(), nil }); err != nil {
			t.Fatalf("never %s", what)
		}
	}
	until("acts", func() bool { return last().Number == 1 })
	if got := last(); got.Holder != "me" || got.Term != 7 || got.Version != "1.2.0" || got.Lease != "ns/l" {
		t.Errorf("%+v", got)
	}
	if sent := last().Sent; !sent.Equal(clk.Now()) {
		t.Errorf("sent %s, want %s", sent, clk.Now())
	}
	until("has a ticker", clk.HasWaiters)
	clk.Step(Interval)
	until("acts again", func() bool { return last().Number == 2 })
	deposed.Store(true)
	before := asked.Load()
	clk.Step(Interval)
	until("asks", func() bool { return asked.Load() > before })
	cancel()
	<-ended
	if got := last(); got.Number != 2 {
		t.Errorf("it acted after it was deposed: %+v", got)
	}
}
