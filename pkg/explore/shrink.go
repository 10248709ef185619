package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// Candidate is a scenario with its topology, as files.
type Candidate struct{ Scenario, Topology []byte }

// Shrinker makes a find smaller.
type Shrinker struct {
	// Shows plays a candidate once, and says whether it shows the fingerprint.
	Shows func(ctx context.Context, c Candidate) (bool, error)
	// Tries is how often a candidate is played until it counts as one that does not show it:
	// more than once for a race. Replays is how often the smallest one is played at the end.
	Tries, Replays int
	// MaxRuns bounds how many runs are played before the replays; 0 is no limit.
	MaxRuns int
	Console io.Writer

	runs int
	// unjudged is how many runs in a row could not be judged, and why the last one of them.
	unjudged int
	why      error
}

// Shrunk is the smallest candidate that was found.
type Shrunk struct {
	Candidate
	// Steps it has beside the holds, and Before how many there were.
	Steps, Before int
	// Shown is in how many of the Replays it showed the fingerprint.
	Shown, Replays int
	// Runs that were played.
	Runs int
}

// mostUnjudged is after how many runs in a row that could not be judged a find is made no smaller:
// what keeps them from that is then the machine. A single candidate may be one that a run refuses.
const mostUnjudged = 5

// errEnough: as many runs were played as may be.
var errEnough = errors.New("as many runs were played as --max-runs allows")

// Shrink takes steps, faults, members, settings, lengths and workloads away, as long as the
// fingerprint stays. When the context ends, it gives what it has found until then; beside an error
// too, unless the find did not show at all.
func (s *Shrinker) Shrink(ctx context.Context, c Candidate) (*Shrunk, error) {
	d, err := open(c)
	if err != nil {
		return nil, err
	}
	before := d.steps()
	ok, err := s.holds(ctx, d)
	if err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); !ok && err != nil {
		return nil, err
	}
	if !ok {
		return nil, errors.Join(fmt.Errorf("played %d times, the find did not show again: try more often with --tries", max(s.Tries, 1)), s.why)
	}
	for {
		size := d.size()
		for _, pass := range []func(context.Context, *document) error{s.steps, s.parts, s.simpler} {
			if err = pass(ctx, d); err != nil {
				break
			}
		}
		if err != nil || d.size() >= size {
			break
		}
	}
	out := &Shrunk{Before: before, Steps: d.steps(), Runs: s.runs}
	candidate, wrong := d.candidate()
	if out.Candidate = candidate; wrong != nil {
		return nil, wrong
	}
	if err != nil && !errors.Is(err, errEnough) && ctx.Err() == nil {
		return out, err
	}
	err = s.replay(ctx, out)
	out.Runs = s.runs
	return out, err
}

// replay counts in how many runs the smallest candidate shows the find. A run that was cut short,
// or that could not be judged, says nothing of that.
func (s *Shrinker) replay(ctx context.Context, out *Shrunk) error {
	for out.Replays < s.Replays && ctx.Err() == nil {
		shown, judged, err := s.once(ctx, out.Candidate)
		switch {
		case err != nil:
			return err
		case !judged || !shown && ctx.Err() != nil:
			continue
		case shown:
			out.Shown++
		}
		out.Replays++
	}
	return nil
}

// once plays a candidate once. An error says that the machine keeps runs from being judged.
func (s *Shrinker) once(ctx context.Context, c Candidate) (shown, judged bool, err error) {
	s.runs++
	shown, err = s.Shows(ctx, c)
	switch {
	case err == nil:
		s.unjudged, s.why = 0, nil
		return shown, true, nil
	case ctx.Err() != nil:
		return false, false, nil
	}
	s.why = err
	if s.unjudged++; s.unjudged >= mostUnjudged {
		return false, false, fmt.Errorf("%d runs in a row could not be judged, the last one: %w", s.unjudged, err)
	}
	fmt.Fprintf(s.Console, "%4d  could not be judged: %v\n", s.runs, err)
	return false, false, nil
}

// holds is whether a document is valid and shows the fingerprint.
func (s *Shrinker) holds(ctx context.Context, d *document) (bool, error) {
	c, err := d.candidate()
	if err != nil {
		return false, err
	}
	if d.problem(c) != nil {
		return false, nil // what cannot be played shows nothing
	}
	for range max(s.Tries, 1) {
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		if s.MaxRuns > 0 && s.runs >= s.MaxRuns {
			return false, errEnough
		}
		shown, judged, err := s.once(ctx, c)
		if !judged {
			return false, err // played again, it would be refused again
		}
		fmt.Fprintf(s.Console, "%4d  %2d steps  %s\n", s.runs, d.steps(), map[bool]string{true: "shows it", false: "does not show it"}[shown])
		if shown {
			return true, nil
		}
	}
	return false, nil
}

// steps takes groups of steps away that belong together, such as an inject and its heal.
func (s *Shrinker) steps(ctx context.Context, d *document) error {
	groups, err := d.groups()
	if err != nil {
		return err
	}
	smallest, err := ddmin(groups, func(part [][]int) (bool, error) {
		return s.holds(ctx, d.with(part))
	})
	*d = *d.with(smallest)
	return err
}

// parts takes everything else away that can be left out as a whole.
func (s *Shrinker) parts(ctx context.Context, d *document) error {
	return s.each(ctx, d, slices.Concat(d.removals(), d.elements()))
}

// simpler makes lengths and counts smaller.
func (s *Shrinker) simpler(ctx context.Context, d *document) error {
	return s.each(ctx, d, d.reductions())
}

// each tries one change after the other, and keeps those with which the fingerprint stays.
func (s *Shrinker) each(ctx context.Context, d *document, changes []change) error {
	for _, change := range changes {
		trial := d.clone()
		if !change(trial) || trial.size() >= d.size() {
			continue
		}
		ok, err := s.holds(ctx, trial)
		if err != nil {
			return err
		}
		if ok {
			*d = *trial
		}
	}
	return nil
}

// change makes a document smaller; it says whether it has changed anything.
type change func(d *document) bool

// document is a candidate as values.
type document struct{ scenario, topology map[string]any }

func open(c Candidate) (*document, error) {
	d := &document{}
	if err := errors.Join(yaml.Unmarshal(c.Scenario, &d.scenario), yaml.Unmarshal(c.Topology, &d.topology)); err != nil {
		return nil, fmt.Errorf("read the scenario and the topology of the find: %w", err)
	}
	if len(d.list()) == 0 {
		return nil, errors.New("the scenario of the find has no steps")
	}
	return d, nil
}

func (d *document) list() []any {
	steps, _ := d.scenario["steps"].([]any)
	return steps
}

// steps is how many there are beside the holds.
func (d *document) steps() int {
	n := 0
	for _, one := range d.list() {
		if name, _ := stepOf(one); name != "hold" {
			n++
		}
	}
	return n
}

func stepOf(one any) (name string, values map[string]any) {
	step, _ := one.(map[string]any)
	for key, value := range step {
		if key != scenario.WhenKey {
			name = key
			values, _ = value.(map[string]any)
		}
	}
	return name, values
}

func (d *document) candidate() (Candidate, error) {
	s, err := yaml.Marshal(d.scenario)
	t, wrong := yaml.Marshal(d.topology)
	return Candidate{s, t}, errors.Join(err, wrong)
}

// size orders documents: fewer steps first, then shorter texts, and then shorter lengths and smaller
// counts, however they are written: 2.5s is less than 5s.
func (d *document) size() float64 {
	total := float64(len(d.list())) * 1e6
	words := d.clone()
	words.walkAmounts(func(_ string, value any) any {
		if length, ok := duration(value); ok {
			total += length.Seconds()
			return ""
		}
		if n := number(value); n > 0 {
			total += n / 1e3
			return 0
		}
		return value
	})
	c, err := words.candidate()
	if err != nil {
		return 0
	}
	return total + float64(len(c.Scenario)+len(c.Topology))*10
}

// walkAmounts walks all that may have lengths and counts to make smaller: steps and faults.
func (d *document) walkAmounts(change func(key string, value any) any) {
	walk(d.scenario["steps"], change)
	walk(d.scenario["faults"], change)
}

func duration(value any) (time.Duration, bool) {
	text, ok := value.(string)
	if !ok || text == "" {
		return 0, false
	}
	length, err := time.ParseDuration(text)
	return length, err == nil
}

// problem says why a candidate cannot be played; nil if it can.
func (d *document) problem(c Candidate) error {
	s, err := Load(c.Scenario)
	if err != nil {
		return err
	}
	topology, err := cluster.ParseTopology(topologyFile, c.Topology)
	if err != nil {
		return err
	}
	for _, step := range s.Steps {
		for _, selector := range scenario.Selectors(step) {
			var n int
			if _, err := fmt.Sscanf(selector, "@cp%d", &n); err == nil && n > len(topology.Spec.Members) {
				return fmt.Errorf("%s is no member", selector)
			}
		}
	}
	return nil
}

// clone is a deep copy.
func (d *document) clone() *document {
	return &document{copied(d.scenario).(map[string]any), copied(d.topology).(map[string]any)}
}

func copied(value any) any {
	switch one := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, each := range one {
			out[key] = copied(each)
		}
		return out
	case []any:
		out := make([]any, 0, len(one))
		for _, each := range one {
			out = append(out, copied(each))
		}
		return out
	}
	return value
}

// walk has change give each single value below a value anew, in one order.
func walk(value any, change func(key string, value any) any) {
	switch one := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(one)) {
			if isSingle(one[key]) {
				one[key] = change(key, one[key])
			} else {
				walk(one[key], change)
			}
		}
	case []any:
		for i := range one {
			if isSingle(one[i]) {
				one[i] = change("", one[i])
			} else {
				walk(one[i], change)
			}
		}
	}
}

func isSingle(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// groups are the steps that stay or go together, by their indexes.
func (d *document) groups() ([][]int, error) {
	var out [][]int
	open := map[string]int{} // the group that a key begins
	for i, one := range d.list() {
		name, values := stepOf(one)
		key := pairKey(name, values)
		switch at, found := open[key]; {
		case key != "" && found && name != "inject" && name != "stop":
			out[at] = append(out[at], i)
		case key != "":
			open[key] = len(out)
			out = append(out, []int{i})
		default:
			out = append(out, []int{i})
		}
	}
	return out, nil
}

// pairKey is what a step has in common with those that it cannot be played without.
func pairKey(name string, values map[string]any) string {
	switch name {
	case "inject", "heal", "waitForHits":
		return fmt.Sprint("fault ", values["fault"])
	case "stop", "boot":
		return fmt.Sprint("component ", values["component"])
	}
	return ""
}

// with is the document with some groups of steps only, and with the faults that these name.
func (d *document) with(groups [][]int) *document {
	indexes := slices.Concat(groups...)
	slices.Sort(indexes)
	out := d.clone()
	steps := out.list()
	var kept []any
	for _, i := range indexes {
		kept = append(kept, steps[i])
	}
	out.scenario["steps"] = kept
	out.tidy()
	return out
}

// tidy removes the faults that no step names.
func (d *document) tidy() {
	faults, _ := d.scenario["faults"].(map[string]any)
	named := map[string]bool{}
	walk(d.scenario["steps"], func(_ string, value any) any {
		if name, ok := value.(string); ok {
			named[name] = true
		}
		return value
	})
	for name := range faults {
		if !named[name] {
			delete(faults, name)
		}
	}
	if len(faults) == 0 {
		delete(d.scenario, "faults")
	}
}

// removals are the changes that leave something out.
func (d *document) removals() (out []change) {
	for _, path := range [][]string{{"discovery"}, {"migrations"}, {"leaderElection"}, {"leaderElection", "extraElections"}, {"leaderElection", "leaderActivityProbe"}, {"discovery", "backends"}, {"discovery", "peers"}} {
		out = append(out, func(d *document) bool { return remove(d.scenario, path) })
	}
	out = append(out, func(d *document) bool {
		traffic, ok := d.scenario["traffic"].(map[string]any)
		if !ok || traffic["off"] == true {
			return false
		}
		d.scenario["traffic"] = map[string]any{"off": true}
		return true
	})
	traffic, _ := d.scenario["traffic"].(map[string]any)
	workloads, _ := traffic["workloads"].([]any)
	for i := range slices.Backward(workloads) {
		out = append(out, func(d *document) bool {
			traffic, _ := d.scenario["traffic"].(map[string]any)
			list, _ := traffic["workloads"].([]any)
			if i >= len(list) || len(list) == 1 {
				return false
			}
			traffic["workloads"] = slices.Delete(list, i, i+1)
			return true
		})
	}
	for i, one := range d.list() {
		step, _ := one.(map[string]any)
		if _, waits := step[scenario.WhenKey]; waits {
			out = append(out, func(d *document) bool { return removeOfStep(d, i, scenario.WhenKey) })
		}
		name, values := stepOf(one)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			out = append(out, func(d *document) bool { return removeOfStep(d, i, name, key) })
		}
	}
	spec, _ := d.topology["spec"].(map[string]any)
	settings, _ := spec["settings"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		out = append(out, func(d *document) bool { return remove(d.topology, []string{"spec", "settings", key}) })
	}
	return append(out, fewerMembers, fewerMembers)
}

// fewerMembers takes two members away, which keeps the number odd.
func fewerMembers(d *document) bool {
	spec, _ := d.topology["spec"].(map[string]any)
	members, _ := spec["members"].([]any)
	if len(members) < 3 {
		return false
	}
	spec["members"] = members[:len(members)-2]
	return true
}

func removeOfStep(d *document, i int, path ...string) bool {
	steps := d.list()
	if i >= len(steps) {
		return false
	}
	step, ok := steps[i].(map[string]any)
	ok = ok && remove(step, path)
	d.tidy()
	return ok
}

func remove(from map[string]any, path []string) bool {
	for _, key := range path[:len(path)-1] {
		next, ok := from[key].(map[string]any)
		if !ok {
			return false
		}
		from = next
	}
	last := path[len(path)-1]
	if _, there := from[last]; !there {
		return false
	}
	delete(from, last)
	return true
}

// Bounds of what lengths and counts are reduced to.
const (
	shortestLength = 500 * time.Millisecond
	fewest         = 1
)

// reductions are the changes that make a length or a count of a step or a fault smaller.
func (d *document) reductions() (out []change) {
	n := 0
	d.clone().walkAmounts(func(_ string, value any) any {
		if _, smaller := reduced(value); smaller {
			at := n
			out = append(out, func(d *document) bool { return d.reduce(at) })
		}
		n++
		return value
	})
	return out
}

// reduce makes the n-th single value of the steps and faults smaller.
func (d *document) reduce(n int) (changed bool) {
	at := 0
	d.walkAmounts(func(_ string, value any) any {
		if at == n {
			value, changed = reduced(value)
		}
		at++
		return value
	})
	return changed
}

func reduced(value any) (smaller any, ok bool) {
	if length, is := duration(value); is && length > shortestLength {
		return max(length/2, shortestLength).Round(lengthUnit).String(), true
	}
	if n, is := value.(int); is && n > fewest {
		return max(n/2, fewest), true
	}
	return value, false
}

// Describe has the scenario say what it is the smallest one of.
func (s *Shrunk) Describe(find Find, name string) error {
	d, err := open(s.Candidate)
	if err != nil {
		return err
	}
	d.scenario["metadata"] = map[string]any{"name": name}
	text := fmt.Sprintf("The smallest scenario in which evenkeel explore saw %s broken: %s", find.Fingerprint.Requirement, strings.TrimSuffix(find.Message, ".")+".")
	if s.Replays > 0 {
		text += fmt.Sprintf(" It showed in %d of %d runs.", s.Shown, s.Replays)
	}
	d.scenario["description"] = text
	s.Candidate, err = d.candidate()
	return err
}
