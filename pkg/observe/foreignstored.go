package observe

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ownPrefixes begin the names of what the harness makes: participants in elections and
// their Leases, and servers that it invents.
var ownPrefixes = []string{"evenkeel-", "apiserver-evenkeel-"}

// foreignStored passes on what the recorder of etcd records, and adds which Leases,
// candidates and servers are foreign.
type foreignStored struct {
	Recorder
	// hosts and servers are the host names and server IDs of the members.
	hosts, servers map[string]bool
	// known are what was told of and has not gone, by type and name.
	known map[[2]string]bool
}

// TellForeign makes a recorder for that of etcd, which tells too of Leases and candidates
// of programs that run on no member's host, and of servers in StorageVersions that are no
// members. These events have no From: etcd tells when each change was made.
func TellForeign(recorder Recorder, hosts, servers []string) Recorder {
	f := &foreignStored{Recorder: recorder, hosts: map[string]bool{}, servers: map[string]bool{}, known: map[[2]string]bool{}}
	for _, host := range hosts {
		f.hosts[host] = true
	}
	for _, server := range servers {
		f.servers[server] = true
	}
	return f
}

// Record is for the goroutine of the recorder of etcd alone.
func (f *foreignStored) Record(ev history.Event) {
	f.Recorder.Record(ev)
	s := ev.Stored
	if s == nil {
		return
	}
	if key, ok := strings.CutPrefix(s.Key, registryPrefix+"leases/"); ok {
		f.tell(history.ThirdPartyLease, key, s.Lease != nil && f.foreignLease(key, s.Lease))
	}
	if key, ok := strings.CutPrefix(s.Key, registryPrefix+"leasecandidates/"); ok {
		f.tell(history.ThirdPartyCandidate, key, s.Candidate != nil && !f.own(key) && !f.onMember(base(key)))
	}
	if s.StorageVersion != nil {
		for _, entry := range s.StorageVersion.Entries {
			if !f.servers[entry.ServerID] && !f.own(entry.ServerID) {
				f.tell(history.ThirdPartyServer, entry.ServerID, true)
			}
		}
	}
}

// tell records that something is foreign, or is so no more, if that is news. A server that
// was seen once stays known: its entries may be in many StorageVersions.
func (f *foreignStored) tell(what, name string, foreign bool) {
	key := [2]string{what, name}
	if f.known[key] == foreign {
		return
	}
	f.known[key] = foreign
	change := history.ThirdPartyAppeared
	if !foreign {
		change = history.ThirdPartyDeleted
		delete(f.known, key)
	}
	f.Recorder.Record(history.Event{Kind: history.KindThirdPartyObject, ThirdPartyObject: &history.ThirdPartyObject{Type: what, Name: name, Change: change}})
}

// foreignLease returns whether a program that is neither a member's nor the harness's holds
// a Lease that is no API server's identity. A Lease without a holder is not foreign.
func (f *foreignStored) foreignLease(key string, lease *history.Lease) bool {
	return !lease.Identity && lease.Holder != "" && !f.own(key) && !f.own(lease.Holder) && !f.onMember(lease.Holder)
}

func (f *foreignStored) own(name string) bool {
	for _, prefix := range ownPrefixes {
		if strings.HasPrefix(base(name), prefix) {
			return true
		}
	}
	return false
}

func (f *foreignStored) onMember(holder string) bool { return f.hosts[history.Host(holder)] }

// base is a name without its namespace.
func base(name string) string { return name[strings.Index(name, "/")+1:] }
