package storageversion_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/defects"
	sv "github.com/evenkeel/evenkeel/impl/storageversion"
	"github.com/evenkeel/evenkeel/impl/storageversion/svtest"
)

// agreements counts the objects with an agreed version, and entries those with an
// entry of a server.
func agreements(api *svtest.API) (n int) {
	for _, r := range resources("test.dev/v1") {
		if object := api.StorageVersion(r.Name()); object != nil && object.Status.CommonEncodingVersion != nil {
			n++
		}
	}
	return n
}

func entriesOf(api *svtest.API, id string) (n int) {
	for _, r := range resources("test.dev/v1") {
		if encodingOf(api.StorageVersion(r.Name()), id) != "" {
			n++
		}
	}
	return n
}

// A server that is switched off stores nothing before its word and every agreement
// are withdrawn; the others agree on nothing while it is there, and again when it
// is switched on.
func TestSwitchedOffAndOn(t *testing.T) {
	api := svtest.New(clock.RealClock{}, nil)
	all := len(resources("test.dev/v1"))
	other, _ := boot(t, api, "a", options{})
	await(t, other)
	m, stop := boot(t, api, "b", options{})
	await(t, m)
	eventually(t, "both agree", func() bool { return agreements(api) == all })
	stop()

	// While it withdraws it holds writes back.
	held := make(chan struct{})
	m, stop = boot(t, api, "b", options{silent: true, hooks: []func(clienttesting.Action) error{func(action clienttesting.Action) error {
		if action.Matches("update", "storageversions/status") {
			<-held
		}
		return nil
	}}})
	eventually(t, "it has joined", func() bool { return !sv.Registered(api.Lease("b")) })
	if healthy(m) || probe(m, http.MethodPost, "test.dev", "things0").Code != http.StatusServiceUnavailable || m.MayPersistAs("example.com", "any", "example.com/v7") == nil {
		t.Error("it may store objects before what it had published is withdrawn")
	}
	close(held)
	await(t, m)
	if agreements(api) > 0 || entriesOf(api, "b") > 0 || entriesOf(api, "a") != all {
		t.Errorf("%d agreements, %d entries of its own and %d of the other one", agreements(api), entriesOf(api, "b"), entriesOf(api, "a"))
	}
	if !healthy(m) || probe(m, http.MethodPost, "test.dev", "things0").Code != http.StatusOK || m.MayPersistAs("example.com", "any", "example.com/v7") != nil {
		t.Error("it may not store objects when all is withdrawn")
	}
	if err := m.Publish(t.Context(), sv.Resource{Group: "example.com", Resource: "any", Encoding: "example.com/v1", Decodable: []string{"example.com/v1"}}); err != nil || api.StorageVersion("example.com.any") != nil {
		t.Errorf("it publishes (%v)", err)
	}

	// Another server that starts finds it there.
	late, _ := boot(t, api, "c", options{})
	await(t, late)
	if agreements(api) > 0 || entriesOf(api, "c") != all || sv.Registered(api.Lease("b")) {
		t.Error("others agree without it")
	}
	stop()
	m, _ = boot(t, api, "b", options{})
	await(t, m)
	eventually(t, "all agree again", func() bool { return agreements(api) == all })
	if common := api.StorageVersion("test.dev.things0").Status.CommonEncodingVersion; ptr.Deref(common, "") != "test.dev/v1" {
		t.Errorf("%v is agreed", ptr.Deref(common, "none"))
	}
}

func TestSwitchedOffDefects(t *testing.T) {
	all := len(resources("test.dev/v1"))
	for id, wrong := range map[defects.ID]func(*svtest.API) bool{
		defects.SV25StandsByItsWord:     func(api *svtest.API) bool { return entriesOf(api, "b") == all && agreements(api) == all },
		defects.SV25PassesForRegistered: func(api *svtest.API) bool { return sv.Registered(api.Lease("b")) },
	} {
		api := svtest.New(clock.RealClock{}, nil)
		for _, server := range []string{"a", "b"} {
			m, stop := boot(t, api, server, options{})
			await(t, m)
			stop()
		}
		m, _ := boot(t, api, "b", options{silent: true, defects: defects.Of(id)})
		await(t, m)
		if !wrong(api) {
			t.Errorf("%s does nothing", id)
		}
	}
}

// A write that came before the server may store waits for that.
func TestSilentWait(t *testing.T) {
	api := svtest.New(clock.RealClock{}, nil)
	held := make(chan struct{})
	m, _ := boot(t, api, "b", options{silent: true, hooks: []func(clienttesting.Action) error{func(action clienttesting.Action) error {
		if action.Matches("list", "storageversions") {
			<-held
		}
		return nil
	}}})
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if m.WaitAnnounced(short, "example.com", "any", "example.com/v1") == nil {
		t.Error("it does not wait")
	}
	close(held)
	if err := m.WaitAnnounced(t.Context(), "example.com", "any", "example.com/v1"); err != nil {
		t.Error(err)
	}
}
