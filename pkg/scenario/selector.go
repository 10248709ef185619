package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Selectors beside @cp1, @cp2 and so on, and members' names.
const (
	selectAll       = "@all"
	selectLeader    = "@leader"
	selectFollowers = "@followers"
	// selectCoordinator is the member whose API server coordinates elections.
	selectCoordinator = "@coordinator"
	// selectTriggered is the member by which the trigger of the step was met.
	selectTriggered = "@triggered"
	selectIndex     = "@cp"
)

// selectMembers finds the members that a selector means, in the order of the
// topology. The leader is asked for only where the selector needs it.
func selectMembers(selector string, members []string, leader func() (string, error)) ([]string, error) {
	switch {
	case selector == selectAll:
		return slices.Clone(members), nil
	case selector == selectLeader || selector == selectFollowers:
		name, err := leader()
		if err != nil {
			return nil, fmt.Errorf("select %s: %w", selector, err)
		}
		selected := slices.DeleteFunc(slices.Clone(members), func(m string) bool { return (m == name) != (selector == selectLeader) })
		if len(selected) == 0 {
			return nil, fmt.Errorf("select %s: no member is one", selector)
		}
		return selected, nil
	case strings.HasPrefix(selector, selectIndex):
		n, err := strconv.Atoi(strings.TrimPrefix(selector, selectIndex))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no selector; @cp1 is the first member", selector)
		}
		if n > len(members) {
			return nil, fmt.Errorf("select %s: the topology has only %d members", selector, len(members))
		}
		return []string{members[n-1]}, nil
	case slices.Contains(members, selector):
		return []string{selector}, nil
	}
	return nil, fmt.Errorf("%q selects no member; there are %s, and the selectors @cp1 to @cp%d, %s, %s and %s",
		selector, strings.Join(members, ", "), len(members), selectAll, selectLeader, selectFollowers)
}

// memberOf finds the member on whose host the holder of a Lease runs. An
// identity is the host's name, an underscore and something unique. Host names
// have no underscores, and one may begin another, so the whole name must match.
func memberOf(holder string, members []cluster.Member) (string, bool) {
	host, _, _ := strings.Cut(holder, "_")
	at := slices.IndexFunc(members, func(m cluster.Member) bool { return m.Host == host && host != "" })
	if at < 0 {
		return "", false
	}
	return members[at].Name, true
}

// releaseFor finds the release that a scenario means by a name, for a member
// that runs current and began with start.
func releaseFor(name, current, start string, releases []string) (string, error) {
	at := slices.Index(releases, current)
	switch name {
	case "@start":
		return start, nil
	case "@oldest", "@newest":
		if len(releases) == 0 {
			return "", fmt.Errorf("%s: there are no releases", name)
		}
		if name == "@oldest" {
			return releases[0], nil
		}
		return releases[len(releases)-1], nil
	case "@start+1":
		return releaseFor("@next", start, start, releases)
	case "@start+2":
		next, err := releaseFor("@next", start, start, releases)
		if err != nil {
			return "", err
		}
		return releaseFor("@next", next, start, releases)
	case "@next":
		if at < 0 || at+1 >= len(releases) {
			return "", fmt.Errorf("there is no release after %s; there are: %s", current, strings.Join(releases, ", "))
		}
		return releases[at+1], nil
	case "@previous":
		if at < 1 {
			return "", fmt.Errorf("there is no release before %s; there are: %s", current, strings.Join(releases, ", "))
		}
		return releases[at-1], nil //nolint:gosec // G602: at is an index of releases and not 0.
	}
	if !slices.Contains(releases, name) {
		return "", fmt.Errorf("there is no release %q; there are: %s", name, strings.Join(releases, ", "))
	}
	return name, nil
}

// StartRelease is the release that the scenario begins with, or empty where it
// leaves that to the topology, whose cluster must be made with it.
func (s *Scenario) StartRelease(releases []string) (string, error) {
	if s.Start.Release == "" {
		return "", nil
	}
	return releaseFor(s.Start.Release, "", "", releases)
}
