package storageversion_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	sv "github.com/evenkeel/evenkeel/impl/storageversion"
	"github.com/evenkeel/evenkeel/impl/storageversion/svtest"
)

// step is by how much the clock goes on while a test waits.
const step = 100 * time.Millisecond

// refusing fails every write of the named object while it is on.
func refusing(name string, on *atomic.Bool) func(clienttesting.Action) error {
	return func(action clienttesting.Action) error {
		var obj runtime.Object
		// An UpdateAction has the methods of a CreateAction.
		if written, ok := action.(clienttesting.CreateAction); ok {
			obj = written.GetObject()
		}
		if object, ok := obj.(*apiserverinternalv1alpha1.StorageVersion); ok && object.Name == name && on.Load() {
			return errors.New("refused for the test")
		}
		return nil
	}
}

func why(m *sv.Manager) string {
	if err := m.HealthCheck().Check(nil); err != nil {
		return err.Error()
	}
	return ""
}

// One object that cannot be written keeps the server from being ready, as KEP-2339 wants, and it
// delays no other one. The readiness check names it and the error.
func TestRegister_OneObjectThatFailsDelaysNoOther(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Now())
	api := svtest.New(fake, nil)
	var on atomic.Bool
	on.Store(true)
	m, _ := boot(t, api, "a", options{clock: fake, duration: time.Hour, hooks: []func(clienttesting.Action) error{refusing("test.dev.things3", &on)}})
	eventually(t, "all others are published, before the clock has moved", func() bool {
		for _, resource := range resources("test.dev/v1") {
			if resource.Name() != "test.dev.things3" && encodingOf(api.StorageVersion(resource.Name()), "a") == "" {
				return false
			}
		}
		return true
	})
	eventually(t, "the readiness check tells what fails", func() bool {
		fake.Step(step)
		reason := why(m)
		return strings.Contains(reason, "publishing storage version test.dev.things3 has failed") && strings.Contains(reason, "refused for the test")
	})
	if body := probe(m, "POST", "apps", "deployments").Body.String(); !strings.Contains(body, "test.dev.things3") {
		t.Errorf("the refusal does not tell what fails: %s", body)
	}
	on.Store(false)
	eventually(t, "the server has registered", func() bool {
		fake.Step(step)
		return healthy(m)
	})
	judge(t, api)
}

// A custom resource does not wait for the barrier, and one that cannot be announced does not
// keep the barrier shut. It is announced by a later round.
func TestRegister_ACustomResourceThatFailsDoesNotKeepTheServerFromBeingReady(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Now())
	api := svtest.New(fake, nil)
	var on atomic.Bool
	custom := sv.Resource{Group: "early.dev", Resource: "things", Encoding: "early.dev/v1", Decodable: []string{"early.dev/v1"}}
	m, _ := boot(t, api, "a", options{clock: fake, duration: time.Hour, custom: []sv.Resource{custom}, hooks: []func(clienttesting.Action) error{refusing(custom.Name(), &on)}, before: func() { on.Store(true) }})
	eventually(t, "the server has registered", func() bool {
		fake.Step(step)
		return healthy(m)
	})
	if m.MayPersistAs("early.dev", "things", custom.Encoding) == nil {
		t.Error("what was not announced may be stored")
	}
	on.Store(false)
	eventually(t, "it is announced", func() bool {
		fake.Step(step)
		return m.MayPersistAs("early.dev", "things", custom.Encoding) == nil
	})
}

// Publish gives its caller the error after ReportPatience. Whether the report is in place is not
// known then, so neither version may be stored, until another attempt has succeeded.
func TestPublish_FailsWhenItsPatienceIsOver(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Now())
	api := svtest.New(fake, nil)
	var on atomic.Bool
	late := sv.Resource{Group: "late.dev", Resource: "things", Encoding: "late.dev/v1", Decodable: []string{"late.dev/v1", "late.dev/v2"}}
	m, _ := boot(t, api, "a", options{clock: fake, duration: time.Hour, hooks: []func(clienttesting.Action) error{refusing(late.Name(), &on)}})
	await(t, m)
	if err := m.Publish(context.Background(), late); err != nil {
		t.Fatal(err)
	}
	on.Store(true)
	began := fake.Now()
	flipped := late
	flipped.Encoding = "late.dev/v2"
	ended := make(chan error, 1)
	go func() { ended <- m.Publish(context.Background(), flipped) }()
	var err error
	eventually(t, "Publish ends", func() bool {
		fake.Step(step)
		select {
		case err = <-ended:
			return true
		default:
			return false
		}
	})
	if took := fake.Since(began); err == nil || !strings.Contains(err.Error(), "refused for the test") || took < sv.ReportPatience/2 || took > sv.ReportPatience+sv.ErrorRetryMax {
		t.Errorf("it ended after %v with %v", took, err)
	}
	for _, version := range []string{"late.dev/v1", "late.dev/v2"} {
		if m.MayPersistAs("late.dev", "things", version) == nil {
			t.Errorf("%s may be stored", version)
		}
	}
	on.Store(false)
	if err := m.Publish(context.Background(), late); err != nil {
		t.Fatal(err)
	}
	if err := m.MayPersistAs("late.dev", "things", "late.dev/v1"); err != nil {
		t.Error(err)
	}
}

// A server that cannot join tries for as long as it runs, with pauses of at most JoinRetry, and
// tells so.
func TestJoin_TellsWhyItFails(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Now())
	api := svtest.New(fake, nil)
	var cut atomic.Bool
	cut.Store(true)
	m, _ := boot(t, api, "a", options{clock: fake, duration: time.Hour, hooks: []func(clienttesting.Action) error{func(action clienttesting.Action) error {
		if cut.Load() && action.GetResource().Resource == "leases" {
			return errors.New("cut off for the test")
		}
		return nil
	}}})
	eventually(t, "the readiness check tells what fails", func() bool {
		fake.Step(step)
		return strings.Contains(why(m), "joining the participating servers has failed") && strings.Contains(why(m), "cut off for the test")
	})
	cut.Store(false)
	// An attempt that had begun before fails yet, and its pause begins later than now.
	eventually(t, "the server has registered", func() bool {
		fake.Step(step)
		return healthy(m)
	})
	if reason := why(m); reason != "" {
		t.Error(reason)
	}
}

// Repairs that go on do not put the rounds of verification off.
func TestMaintain_RoundsComeWhileRepairsGoOn(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Now())
	api := svtest.New(fake, nil)
	m, _ := boot(t, api, "a", options{clock: fake, duration: time.Hour})
	await(t, m)
	eventually(t, "maintenance waits", fake.HasWaiters)
	other := apiserverinternalv1alpha1.ServerStorageVersion{APIServerID: "gone", EncodingVersion: "test.dev/v1", DecodableVersions: []string{"test.dev/v1"}}
	object := api.StorageVersion("test.dev.things1")
	object.Status.StorageVersions = append(object.Status.StorageVersions, other)
	api.Put(object)
	eventually(t, "a round removes the entry of a server that is gone", func() bool {
		// The watch shows damage that only a repair mends, again and again.
		damaged := api.StorageVersion("test.dev.things2")
		damaged.Status = apiserverinternalv1alpha1.StorageVersionStatus{}
		api.Put(damaged)
		fake.Step(sv.VerificationInterval / 4)
		return encodingOf(api.StorageVersion("test.dev.things1"), "gone") == ""
	})
}
