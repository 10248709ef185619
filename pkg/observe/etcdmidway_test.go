package observe

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe/etcdtest"
)

func TestEtcdThatMayNotBeRead(t *testing.T) {
	m := newMemory()
	r := NewUnreadEtcd([]string{"cp1"}, "the topology does not allow it", m, clock.RealClock{})
	r.Run(t.Context())
	gaps := m.of(history.KindRecorderMissed)
	if len(gaps) != 1 || gaps[0].RecorderMissed.Source != "etcd" || !strings.Contains(gaps[0].RecorderMissed.Message, "the topology does not allow it") {
		t.Errorf("gaps %+v", gaps)
	}
	if revision, err := r.Revision(t.Context()); revision != 0 || err != nil {
		t.Errorf("its revision is %d (%v)", revision, err)
	}
	if err := r.WaitFor(t.Context(), 0); err != nil {
		t.Error(err)
	}
	if health := r.Health(t.Context()); health.Problem() == "" {
		t.Error("it is taken for whole")
	}
}

// What was there before is told once and in order, what comes after is told, and of all
// else not even the names.
func TestEtcdIsFollowedMidway(t *testing.T) {
	here := etcdtest.Start(t)
	m := newMemory()
	r := NewMidwayEtcd([]string{"cp1"}, func(string) (clientv3.Config, error) {
		return here, nil
	}, m, clock.RealClock{})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r.KeepLeasesOf([]string{"host-cp1"})
	client, err := r.client("cp1")
	if err != nil {
		t.Fatal(err)
	}
	put := func(key, value string) {
		t.Helper()
		if _, err := client.Put(ctx, key, value); err != nil {
			t.Fatal(err)
		}
	}
	write := func(key string) {
		t.Helper()
		put(key, `{"apiVersion":"v1","kind":"X","metadata":{"name":"x"}}`)
	}
	hold := func(key, holder string) {
		t.Helper()
		put(key, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"x"},"spec":{"holderIdentity":"`+holder+`"}}`)
	}
	// A process of a member holds the first two; a kubelet and another host the others.
	const lock, other, kubelet, apart = "/registry/leases/ns/lock", "/registry/leases/kube-system/other", "/registry/leases/kube-node-lease/host-cp1", "/registry/leases/ns/apart"
	hold(lock, "host-cp1_1")
	hold(kubelet, "host-cp1")
	hold(apart, "elsewhere_1")
	const version, lease = "/registry/storageversions/apps.deployments", "/registry/leases/kube-system/apiserver-a"
	for _, key := range []string{version, lease, "/registry/secrets/ns/private", "/registry/leases/kube-system/theirs", version} {
		write(key)
	}
	before, err := r.Revision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Compact(ctx, before); err != nil {
		t.Fatal(err)
	}
	running := make(chan struct{})
	go func() {
		defer close(running)
		r.Run(ctx)
	}()
	if err := r.WaitFor(ctx, before); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{lease, "/registry/secrets/ns/private", version} {
		write(key)
	}
	hold(other, "host-cp1_2")
	hold(kubelet, "host-cp1")
	hold(lock, "elsewhere_1") // held before by a member, so that this is told
	hold(apart, "elsewhere_1")
	after, err := r.Revision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.WaitFor(ctx, after); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-running
	var told []string
	for _, e := range m.of(history.KindStored) {
		told = append(told, fmt.Sprintf("%d %s", e.Stored.Revision-before, e.Stored.Key))
	}
	want := []string{"-7 " + lock, "-3 " + lease, "0 " + version, "1 " + lease, "3 " + version, "4 " + other, "6 " + lock}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("told was\n%q\nwant\n%q", told, want)
	}
	if gaps := m.of(history.KindRecorderMissed); len(gaps) != 0 {
		t.Errorf("gaps %+v", gaps)
	}
}

func TestOwnKey(t *testing.T) {
	for key, want := range map[string]bool{
		"/registry/configmaps/evenkeel-quick-1/x":                                      true,
		"/registry/storage.k8s.io/volumeattributesclasses/evenkeel-quick-1-cp1-t0":     true,
		"/registry/lights.evenkeel.dev/lights/ns/x":                                    true,
		"/registry/apiextensions.k8s.io/customresourcedefinitions/lights.evenkeel.dev": true,
		"/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com": false,
		"/registry/configmaps/default/x":                                               false,
		"/registry/secrets/evenkeel-quick-1/x":                                         false,
		"/registry/configmaps/evenkeel-agent/agent":                                    false,
		"/elsewhere/evenkeel-x":                                                        false,
	} {
		if got := OwnKey(key); got != want {
			t.Errorf("%s: %t", key, got)
		}
	}
}
