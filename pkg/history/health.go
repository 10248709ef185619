package history

import (
	"fmt"
	"slices"
	"strings"
)

// EtcdHealth is what every member's etcd says of itself and of the others at
// one moment. It is recorded where the control plane's own store must be whole
// again, after a power cut for example.
type EtcdHealth struct {
	// Target is what the leader had applied before the members were asked: who
	// has applied as much has caught up. 0 where no leader was found.
	Target uint64 `json:"target,omitempty"`
	// Members are the answers, one for each member of the control plane, in its order.
	Members []EtcdMember `json:"members"`
}

// EtcdMember is the answer, or the lack of one, of one member's etcd.
type EtcdMember struct {
	// Member is the name of the control plane's member.
	Member string `json:"member"`
	// Error is why there was no answer; what follows is empty then.
	Error string `json:"error,omitempty"`
	// Cluster is etcd's own number of the cluster, in hexadecimal.
	Cluster string `json:"cluster,omitempty"`
	// ID is etcd's own number of the member, in hexadecimal.
	ID string `json:"id,omitempty"`
	// Leader is etcd's own number of the leader, in hexadecimal; empty where the
	// member knows none.
	Leader string `json:"leader,omitempty"`
	// Voters is how many voting members it lists.
	Voters int `json:"voters,omitempty"`
	// Term is the one of its Raft log.
	Term uint64 `json:"term,omitempty"`
	// Index is how far its Raft log is.
	Index uint64 `json:"index,omitempty"`
	// Applied is how much of its Raft log it has applied.
	Applied uint64 `json:"applied,omitempty"`
	// Version of etcd.
	Version string `json:"version,omitempty"`
	// Errors that it reports of itself, alarms among them.
	Errors []string `json:"errors,omitempty"`
}

// Problem says in words why etcd is not whole: a member that does not answer,
// belongs elsewhere, knows another leader or has not caught up. It is empty if
// there is nothing.
func (h *EtcdHealth) Problem() string {
	if len(h.Members) == 0 {
		return "no etcd was asked"
	}
	first := h.Members[0]
	var ids []string
	for _, m := range h.Members {
		switch {
		case m.Error != "":
			return fmt.Sprintf("the etcd of %s does not answer: %s", m.Member, m.Error)
		case len(m.Errors) > 0:
			return fmt.Sprintf("the etcd of %s reports: %s", m.Member, strings.Join(m.Errors, "; "))
		case m.Leader == "":
			return fmt.Sprintf("the etcd of %s knows no leader", m.Member)
		case m.Cluster != first.Cluster:
			return fmt.Sprintf("the etcd of %s is in cluster %s, that of %s in %s", m.Member, m.Cluster, first.Member, first.Cluster)
		case m.Leader != first.Leader:
			return fmt.Sprintf("the etcd of %s follows %s, that of %s follows %s", m.Member, m.Leader, first.Member, first.Leader)
		case m.Voters != len(h.Members):
			return fmt.Sprintf("the etcd of %s lists %d voting members, and there are to be %d", m.Member, m.Voters, len(h.Members))
		case slices.Contains(ids, m.ID):
			return fmt.Sprintf("the etcd of %s has the number of another one, %s", m.Member, m.ID)
		case h.Target == 0:
			return "how far the leader is could not be told"
		case m.Applied < h.Target:
			return fmt.Sprintf("the etcd of %s has applied its log up to %d, and the leader had up to %d before", m.Member, m.Applied, h.Target)
		}
		ids = append(ids, m.ID)
	}
	if !slices.Contains(ids, first.Leader) {
		return fmt.Sprintf("the leader %s of etcd is none of the members", first.Leader)
	}
	return ""
}

// Summary is one line on an etcd without a Problem, and the Problem otherwise.
func (h *EtcdHealth) Summary() string {
	if problem := h.Problem(); problem != "" {
		return problem
	}
	leader, versions := "", []string{}
	for _, m := range h.Members {
		if m.ID == m.Leader {
			leader = m.Member
		}
		if !slices.Contains(versions, m.Version) {
			versions = append(versions, m.Version)
		}
	}
	return fmt.Sprintf("etcd has all %d members, none behind index %d of the leader %s (version %s)",
		len(h.Members), h.Target, leader, strings.Join(versions, ", "))
}
