package observe

import (
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe/etcdtest"
)

func TestHashTellsEtcdsApartThatHoldDifferentData(t *testing.T) {
	r, m := diverged(t)
	r.Hash(t.Context())
	recorded := m.of(history.KindEtcdHash)
	if len(recorded) != 1 {
		t.Fatalf("recorded %+v", recorded)
	}
	hash := recorded[0].EtcdHash
	one, two, three, gone := hash.Members[0], hash.Members[1], hash.Members[2], hash.Members[3]
	if hash.Revision != 2 || one.Hash == "" || one.Hash != two.Hash || one.Hash == three.Hash || three.Error != "" {
		t.Errorf("hashes %+v", hash)
	}
	if one.Compacted != -1 || one.Current != 2 || gone.Hash != "" || gone.Error != "not there" {
		t.Errorf("members %+v", hash.Members)
	}
}

// diverged is a recorder of four members: cp1 and cp2 have the same etcd, cp3 has one with
// other data, and "gone" has none.
func diverged(t *testing.T) (*Etcd, *memory) {
	t.Helper()
	same, other := etcdtest.Start(t), etcdtest.Start(t)
	m := newMemory()
	r := NewEtcd([]string{"cp1", "cp2", "cp3", "gone"}, func(member string) (clientv3.Config, error) {
		switch member {
		case "gone":
			return clientv3.Config{}, errors.New("not there")
		case "cp3":
			return other, nil
		}
		return same, nil
	}, m, clock.RealClock{})
	t.Cleanup(r.close)
	for member, value := range map[string]string{"cp1": "a", "cp3": "b"} {
		client, err := r.client(member)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Put(t.Context(), "/registry/x", value); err != nil {
			t.Fatal(err)
		}
	}
	return r, m
}

// Hashes cannot be compared where only one member has compacted its history.
func TestHash_RecordsWhereEachMemberHasCompacted(t *testing.T) {
	r, m := diverged(t)
	for _, member := range []string{"cp1", "cp3"} {
		client, _ := r.client(member)
		if _, err := client.Put(t.Context(), "/registry/y", "c"); err != nil {
			t.Fatal(err)
		}
	}
	client, _ := r.client("cp3")
	if _, err := client.Compact(t.Context(), 2, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	r.Hash(t.Context())
	if members := m.of(history.KindEtcdHash)[0].EtcdHash.Members; members[0].Compacted != -1 || members[2].Compacted != 2 {
		t.Errorf("members %+v", members)
	}
}

func TestHashOfAMemberThatIsBehindIsAnError(t *testing.T) {
	ahead, behind := etcdtest.Start(t), etcdtest.Start(t)
	m := newMemory()
	r := NewEtcd([]string{"cp1", "cp2"}, func(member string) (clientv3.Config, error) {
		if member == "cp2" {
			return behind, nil
		}
		return ahead, nil
	}, m, clock.RealClock{})
	defer r.close()
	client, err := r.client("cp1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Put(t.Context(), "/registry/x", "a"); err != nil {
		t.Fatal(err)
	}
	r.Hash(t.Context())
	if members := m.of(history.KindEtcdHash)[0].EtcdHash.Members; members[0].Error != "" || members[1].Error == "" || members[1].Hash != "" {
		t.Errorf("members %+v", members)
	}
}

func TestHashThatCannotBeTakenLeavesAGap(t *testing.T) {
	m := newMemory()
	NewEtcd([]string{"cp1"}, func(string) (clientv3.Config, error) { return clientv3.Config{}, errors.New("not there") }, m, clock.RealClock{}).Hash(t.Context())
	if gaps := m.of(history.KindRecorderMissed); len(gaps) != 1 || gaps[0].RecorderMissed.Source != history.SourceEtcdHash {
		t.Errorf("gaps %+v", gaps)
	}
	m = newMemory()
	NewUnreadEtcd([]string{"cp1"}, "the topology does not allow it", m, clock.RealClock{}).Hash(t.Context())
	if len(m.events) != 0 {
		t.Errorf("recorded %+v", m.events)
	}
}
