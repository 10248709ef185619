package explore

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// Composer draws schedules. The same seed, index and corpus give the same schedule.
type Composer struct {
	Grammar *Grammar
	Target  Target
	Seed    int64
	// Budget is how long the steps of a schedule may take together, about.
	Budget time.Duration
	// Members that topologies may have; none means those of the target.
	Members []int
}

// Bounds of a schedule's length.
const (
	leastSteps = 2
	mostSteps  = 7
	// geneTries is how many values of a step are drawn until one is valid, and stepTries how
	// many steps are tried for one place.
	geneTries = 10
	stepTries = 30
	// variedShare of the schedules are variations, once there is a corpus.
	variedShare = 0.6
	// waitedShare of the genes wait for a state.
	waitedShare = 0.3
	// repeatedShare of the genes do once more what one before did.
	repeatedShare = 0.25
	// holdShare of the genes have a hold after them.
	holdShare = 0.3
	// waitFor is how long a gene waits for a state; then it is left out.
	waitFor = 15 * time.Second
	// DefaultBudget is how long the steps of a schedule take at most.
	DefaultBudget = 75 * time.Second
)

// Compose draws the schedule of an index: a variation of one of the corpus, or a new one where
// the corpus is empty.
func (c *Composer) Compose(index int, corpus []*Schedule) (*Schedule, error) {
	random := rand.New(rand.NewPCG(uint64(c.Seed), uint64(index))) //nolint:gosec // G115: a seed is any 64 bits, and an index is not negative.
	s := &Schedule{Seed: c.Seed, Index: index, Parent: -1}
	var genes []Gene
	if len(corpus) > 0 && random.Float64() < variedShare {
		parent := corpus[random.IntN(len(corpus))]
		s.Parent, s.Settings = parent.Index, parent.Settings
		genes = c.vary(random, parent, corpus[random.IntN(len(corpus))], &s.Settings)
	} else {
		s.Settings = c.settings(random)
	}
	st := newState(s.Settings, c.Target)
	build := &building{c: c, rand: random, st: st, s: s, faults: map[string]bool{}}
	if s.Settings.Backends {
		// Without its definition no API server asks it, and no step can have it misbehave.
		build.fixed("registerAPI", backendDefinition())
	}
	if genes == nil {
		for range leastSteps + random.IntN(mostSteps-leastSteps+1) {
			build.draw()
		}
	}
	for i := range genes {
		switch {
		case genes[i].Step == "":
			build.draw()
		case genes[i].alter:
			build.add(build.altered(genes[i]))
		default:
			build.add(genes[i])
		}
	}
	build.close()
	return s, s.write(c.Grammar, c.Target)
}

// backendDefinition are the values of the step that defines the backend of a schedule.
func backendDefinition() registry.Values {
	return registry.Values{"member": "@cp1", "backend": backendName}
}

// settings draws what is beside the steps.
func (c *Composer) settings(random *rand.Rand) Settings {
	base := c.Target.Topology.Spec
	one := func(share float64) bool { return random.Float64() < share }
	s := Settings{Members: len(base.Members), Names: namesUsual, Share: 1}
	if len(c.Members) > 0 && one(0.3) {
		s.Members = c.Members[random.IntN(len(c.Members))]
	}
	s.Release = c.releaseToBeginAt(random)
	s.Names = [...]string{namesUsual, namesUsual, namesUsual, namesShared, namesLong}[random.IntN(5)]
	s.Coordinated = base.Settings.CoordinatedLeaderElection || one(0.6)
	s.Probe = one(0.3)
	if s.Coordinated && one(0.2) {
		s.Extra = 2 + random.IntN(3)
	}
	s.Discovery, s.Peers, s.Migrations, s.Backends = one(0.5), one(0.1), one(0.5), one(0.25)
	s.Share = [...]float64{1, 0.5, 0.2}[random.IntN(3)]
	s.Off = one(0.1)
	s.Lease = [...]string{"", "", "", "short", "long"}[random.IntN(5)]
	s.Shutdown = [...]time.Duration{0, 0, 0, 2 * time.Second, 5 * time.Second}[random.IntN(5)]
	s.NoCache = one(0.1)
	for _, w := range c.Grammar.Workloads {
		if one(0.6) {
			s.Workloads = append(s.Workloads, w.Name)
		}
	}
	if len(s.Workloads) == 0 && len(c.Grammar.Workloads) > 0 {
		s.Workloads = []string{c.Grammar.Workloads[0].Name}
	}
	return s
}

// releaseToBeginAt is mostly one that a newer one comes after.
func (c *Composer) releaseToBeginAt(random *rand.Rand) int {
	n := len(c.Target.Releases)
	if own := slices.Index(c.Target.Releases, c.Target.Topology.Spec.Release); own >= 0 && random.Float64() < 0.6 {
		return own
	}
	return random.IntN(max(n-1, 1))
}

// building puts genes one after the other.
type building struct {
	c     *Composer
	rand  *rand.Rand
	st    *state
	s     *Schedule
	count int
	// faults are the names that are taken.
	faults map[string]bool
}

// add takes a gene if it is valid where it stands, and fits into the budget: without the state that it
// waits for where that cannot come any more.
func (b *building) add(gene Gene) bool {
	if gene.When != nil && !b.st.mayCome(gene.When) {
		gene.When = nil
	}
	entry, err := b.c.Grammar.step(gene.Step)
	if err != nil {
		return false
	}
	for name := range gene.Faults {
		if b.faults[name] {
			return false // a fault of a parent has the name already
		}
	}
	cost := costOf(entry, &gene) * time.Duration(b.st.struck(entry, &gene))
	if cost > MaxStepCost || b.s.Cost+cost > b.c.budget() {
		return false
	}
	trial := b.st.clone()
	if !trial.take(b.c.Grammar, &gene) {
		return false
	}
	*b.st = *trial
	for name := range gene.Faults {
		b.faults[name] = true
	}
	b.s.Genes = append(b.s.Genes, gene)
	b.s.Cost += cost
	return true
}

func (c *Composer) budget() time.Duration {
	if c.Budget > 0 {
		return c.Budget
	}
	return DefaultBudget
}

// costOf is what a step takes with its faults.
func costOf(entry *registry.Entry, gene *Gene) time.Duration {
	cost := time.Duration(0)
	if entry.Cost != nil {
		cost = entry.Cost(gene.Values)
	}
	for _, name := range slices.Sorted(maps.Keys(gene.Faults)) {
		if length, ok := gene.Faults[name].Values["duration"].(time.Duration); ok {
			cost += length
		}
	}
	return cost
}

// draw adds a drawn gene, and sometimes a hold.
func (b *building) draw() {
	if b.rand.Float64() >= repeatedShare || !b.repeat() {
		b.drawNew()
	}
	if b.rand.Float64() < holdShare {
		b.hold(time.Duration(1+b.rand.IntN(4)) * time.Second)
	}
}

// repeat adds one of the genes once more, at the same object and with another parameter.
func (b *building) repeat() bool {
	acting := slices.DeleteFunc(slices.Clone(b.s.Genes), func(g Gene) bool { return slices.Contains(sequels, g.Step) })
	if len(acting) == 0 {
		return false
	}
	at := b.rand.IntN(len(acting))
	return b.add(b.altered(renamed(acting[at:at+1], b.s.Genes)[0]))
}

// sequelWeight is how much more often a step is drawn that goes on with what earlier ones made, once
// there is some.
const sequelWeight = 3

// sequel is the weight of a step by what there is for it to go on with; 0 where it needs what there is
// not.
func (st *state) sequel(entry *registry.Entry) int {
	out := 1
	for _, p := range entry.Parameters {
		known := len(st.names[p.Domain.What]) > 0
		switch {
		case p.Domain.Type != registry.KnownName || p.Optional:
		case known:
			out = sequelWeight
		case p.Variant == "":
			return 0
		}
	}
	return out
}

// sequels are steps that only wait, or take back what another one did.
var sequels = []string{"hold", "boot", "heal", "waitForHits", "awaitMigrations"}

func (b *building) drawNew() {
	for range stepTries {
		entry := b.step()
		if gene, ok := b.gene(entry, nil); ok && b.add(gene) {
			break
		}
	}
}

// step draws one by its weight.
func (b *building) step() *registry.Entry {
	weight := func(e *registry.Entry) int { return max(effects[e.Name].weight, 1) * b.st.sequel(e) }
	total := 0
	for i := range b.c.Grammar.Steps {
		total += weight(&b.c.Grammar.Steps[i])
	}
	at := b.rand.IntN(total)
	for i := range b.c.Grammar.Steps {
		if at -= weight(&b.c.Grammar.Steps[i]); at < 0 {
			return &b.c.Grammar.Steps[i]
		}
	}
	return &b.c.Grammar.Steps[0]
}

// gene draws one of a step that is valid now.
func (b *building) gene(entry *registry.Entry, preset registry.Values) (Gene, bool) {
	presets := []registry.Values{preset}
	if of := effects[entry.Name].preset; of != nil && preset == nil {
		if presets = of(b.st); len(presets) == 0 {
			return Gene{}, false
		}
	}
	for range geneTries {
		b.count++
		gene := Gene{Step: entry.Name}
		d := drawing{g: b.c.Grammar, rand: b.rand, st: b.st, prefix: fmt.Sprintf("-%d-%d-", b.s.Index, b.count), gene: &gene}
		values, ok := d.values(entry.Parameters, presets[b.rand.IntN(len(presets))])
		if !ok {
			continue
		}
		gene.Values = values
		if preset == nil && b.rand.Float64() < waitedShare {
			b.wait(entry, &gene)
		}
		if _, err := gene.node(b.c.Grammar); err != nil {
			continue
		}
		if b.st.clone().take(b.c.Grammar, &gene) {
			return gene, true
		}
	}
	return Gene{}, false
}

// hold adds a hold.
func (b *building) hold(length time.Duration) {
	b.count++
	b.fixed("hold", registry.Values{"name": fmt.Sprintf("h-%d-%d", b.s.Index, b.count), "for": length})
}

// fixed adds a step with just these values, whatever it costs.
func (b *building) fixed(step string, values registry.Values) {
	gene := Gene{Step: step, Values: values}
	if b.st.take(b.c.Grammar, &gene) {
		b.s.Genes = append(b.s.Genes, gene)
		if entry, err := b.c.Grammar.step(step); err == nil {
			b.s.Cost += costOf(entry, &gene)
		}
	}
}

// closingAwait bounds the wait for migrations at the end.
const closingAwait = 170 * time.Second

// close heals everything and lets it show.
func (b *building) close() {
	for len(b.st.active) > 0 {
		b.fixed("heal", registry.Values{"fault": b.st.active[0].fault})
	}
	for len(b.st.stopped) > 0 {
		b.fixed("boot", stoppedOnes(b.st)[0])
	}
	for _, name := range slices.Clone(b.st.away) {
		b.fixed("setBackendBehavior", registry.Values{"name": name, "behavior": answering})
	}
	for _, population := range slices.Clone(b.st.mutating) {
		b.fixed("mutate", registry.Values{"population": population, "rate": 0})
	}
	if len(b.st.pending) > 0 {
		b.fixed("awaitMigrations", registry.Values{"migrations": anys(b.st.pending), "timeout": closingAwait})
	}
	b.hold(closingHold)
}

// wait has a gene wait for a state, of which only those are drawn that can come.
func (b *building) wait(entry *registry.Entry, gene *Gene) {
	d := drawing{g: b.c.Grammar, rand: b.rand, st: b.st, gene: gene, detailed: true}
	for range geneTries {
		values, ok := d.values(b.c.Grammar.When, registry.Values{"within": waitFor, "optional": true})
		if !ok {
			continue
		}
		when, err := scenario.NewTrigger(values)
		if err != nil || !b.st.mayCome(when) || always(when) {
			continue
		}
		gene.When = when
		if p, ok := entry.Parameter("member"); ok && p.Domain.Type == registry.Member && tellsMember(when) && b.rand.IntN(2) == 0 {
			gene.Values["member"] = "@triggered"
		}
		return
	}
}
