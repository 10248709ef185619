package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// externalMeans say, in the order of the reference, what gives a run of an external cluster what
// laws take; never is whether nothing does.
var externalMeans = []struct {
	lack, words string
	never       bool
}{
	{history.LackBackends, "an `address`", false},
	{history.LackRestarts, "a hook, a driver or an agent that restarts members", false},
	{history.LackEtcd, "readable `etcd`, or the agent", false},
	{history.LackProcesses, "the agent", false},
	{history.LackTraffic, "`traffic`", false},
	{history.LackPeers, "`peerDiscovery`", false},
	{history.LackProbes, "`--allow-disruption`", false},
	{history.LackBalancer, "a `balancer`", false},
	{history.LackEmulation, "nothing: it takes members that emulate an older version, and the flags of your components are not Evenkeel's to set", true},
	{history.LackFeatures, "nothing: it takes features that are switched off at single members, and those of your components are not Evenkeel's to switch", true},
}

// ExternalReference is a table in Markdown of what each requirement takes of an external cluster.
func ExternalReference() string {
	var order []string
	rows := map[string][]requirement.ID{}
	for _, one := range requirement.All() {
		if !Built(one.ID) {
			continue
		}
		needs := externalNeeds(one.ID)
		if rows[needs] == nil {
			order = append(order, needs)
		}
		rows[needs] = append(rows[needs], one.ID)
	}
	var b strings.Builder
	b.WriteString("| what it takes | requirements | |\n|---|---|---|\n")
	for _, needs := range order {
		fmt.Fprintf(&b, "| %s | %d | %s |\n", needs, len(rows[needs]), strings.Join(spans(rows[needs]), ", "))
	}
	return b.String()
}

func externalNeeds(id requirement.ID) string {
	needs := rowOf(id).Lacking()
	var words []string
	for _, means := range externalMeans {
		switch {
		case !slices.Contains(needs, means.lack):
		case means.lack == history.LackEtcd && slices.Contains(needs, history.LackProcesses): // the agent reads etcd, too
		case means.never:
			return means.words
		default:
			words = append(words, means.words)
		}
	}
	if len(words) == 0 {
		return "the API alone"
	}
	return strings.Join(words, " and ")
}

// spans are IDs in order, with those that follow each other as one span.
func spans(ids []requirement.ID) []string {
	var out []string
	for i := 0; i < len(ids); {
		last := i
		for last+1 < len(ids) && follows(ids[last], ids[last+1]) {
			last++
		}
		switch last - i {
		case 0:
			out = append(out, string(ids[i]))
		case 1:
			out = append(out, string(ids[i]), string(ids[last]))
		default:
			out = append(out, fmt.Sprintf("%s to %s", ids[i], ids[last]))
		}
		i = last + 1
	}
	return out
}

func follows(a, b requirement.ID) bool {
	area, number, _ := strings.Cut(string(a), "-")
	var n int
	if _, err := fmt.Sscanf(number, "%d", &n); err != nil {
		return false
	}
	return string(b) == fmt.Sprintf("%s-%02d", area, n+1)
}
