package observe

import (
	"errors"
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe/etcdtest"
)

func TestHealthOfARealEtcd(t *testing.T) {
	here := etcdtest.Start(t)
	once := func(members ...string) (history.EtcdHealth, *memory) {
		m := newMemory()
		r := NewEtcd(members, func(member string) (clientv3.Config, error) {
			if member == "gone" {
				return clientv3.Config{}, errors.New("not there")
			}
			return here, nil
		}, m, clock.RealClock{})
		defer r.close()
		return r.Health(t.Context()), m
	}
	// A look has a second for a connection and two answers, which a busy machine may
	// not grant it.
	tooLate := func(one history.EtcdMember) bool { return one.Member == "here" && one.Error != "" }
	look := func(members ...string) (health history.EtcdHealth, m *memory) {
		for range 10 {
			if health, m = once(members...); !slices.ContainsFunc(health.Members, tooLate) {
				break
			}
		}
		return health, m
	}

	health, m := look("here")
	if problem := health.Problem(); problem != "" || health.Members[0].Version == "" || health.Members[0].Term == 0 {
		t.Errorf("%s: %+v", problem, health)
	}
	if recorded := m.of(history.KindEtcdHealth); len(recorded) != 1 || recorded[0].EtcdHealth.Problem() != "" {
		t.Errorf("recorded %+v", recorded)
	}
	health, _ = look("here", "gone")
	if problem := health.Problem(); !strings.Contains(problem, "lists 1 voting members, and there are to be 2") {
		t.Errorf("problem %q", problem)
	}
	health, _ = look("gone", "here")
	if problem := health.Problem(); problem != "the etcd of gone does not answer: not there" {
		t.Errorf("problem %q", problem)
	}
}
