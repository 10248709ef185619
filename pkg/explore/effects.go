package explore

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// effect is what there is to know of a step beside what it registers: whether it may be played
// in a state, and what it leaves behind. A step that is not among the effects asks an API server
// for something, and leaves behind no more than the names that it gives.
type effect struct {
	// weight is how much more often than others the step is drawn; 0 counts as 1. What the
	// KEPs are about comes more often than what a scenario needs once.
	weight int
	// strikes is whether it stops, freezes or cuts off components of its members, or starts
	// them: it must not meet a member that is disturbed already.
	strikes bool
	// starts is whether it starts API servers, which a policy may keep from being ready.
	starts bool
	// takes is whether the step can be played with a fault that it names, beside what the step
	// says of that itself; nil is with any.
	takes func(f *fault.Fault) bool
	// may is whether it may be played; nil is always.
	may func(st *state, gene *Gene) bool
	// after changes the state; nil leaves it.
	after func(st *state, gene *Gene)
	// preset are values that follow from the state, of which one set is drawn; nil is none.
	// Without any set the step cannot be played.
	preset func(st *state) []registry.Values
}

// effects by the name of the step.
var effects = map[string]effect{
	"stop":   {weight: 2, strikes: true, preset: stoppable, may: mayStop, after: afterStop},
	"boot":   {weight: 3, starts: true, preset: stoppedOnes, may: mayBoot, after: afterBoot},
	"inject": {weight: 3, may: mayInject, after: afterInject},
	"heal":   {weight: 2, preset: func(st *state) []registry.Values { return faults(st, false) }, may: mayHeal, after: afterHeal},
	"waitForHits": {preset: func(st *state) []registry.Values { return faults(st, true) }, may: func(st *state, gene *Gene) bool {
		return slices.ContainsFunc(st.active, func(d disturbance) bool { return d.http && d.fault == text(gene, "fault") })
	}},
	"crash":                {weight: 3, strikes: true, may: mayStrike},
	"pause":                {weight: 2, strikes: true, may: mayStrike},
	"partition":            {strikes: true, may: mayStrike},
	"randomFaults":         {strikes: true, may: undisturbed},
	"powerCycle":           {strikes: true, may: undisturbed},
	"conflictStorm":        {strikes: true, starts: true, takes: letsStart, may: several},
	"joinWithoutReporting": {strikes: true, starts: true, takes: holdsStart, may: several},
	"restart":              {weight: 2, strikes: true, starts: true, takes: letsStart, may: mayRestart, after: afterRestart},
	"upgrade":              {weight: 8, strikes: true, starts: true, takes: letsStart, may: func(st *state, gene *Gene) bool { return mayReplace(st, gene, 1) }, after: afterReplace},
	"rollback":             {weight: 5, strikes: true, starts: true, takes: letsStart, may: func(st *state, gene *Gene) bool { return mayReplace(st, gene, -1) }, after: afterReplace},
	"emulate":              {strikes: true, starts: true, takes: letsStart, may: mayEmulate},
	"populate":             {weight: 8, may: mayPopulate, after: afterPopulate},
	"mutate":               {after: afterMutate},
	"migrate":              {weight: 4, preset: migratable, may: mayMigrate, after: afterMigrate},
	"awaitMigrations":      {may: mayAwait, after: afterAwait},
	"deleteMigration": {after: func(st *state, gene *Gene) {
		drop(&st.pending, text(gene, "migration"))
		forget(st, "migration", text(gene, "migration"))
	}},
	"deleteNamespace":    {may: func(st *state, _ *Gene) bool { return len(st.pending) == 0 }, after: afterDeleteNamespace},
	"setBackendBehavior": {weight: 3, may: backendMayMisbehave, after: afterBackend},
	"registerAPI":        {after: func(st *state, gene *Gene) { add(&st.defined, defined(gene)) }},
	"unregisterAPI": {may: func(st *state, gene *Gene) bool { return slices.Contains(st.defined, defined(gene)) },
		after: func(st *state, gene *Gene) { drop(&st.defined, defined(gene)) }},
	"simulateElection": {may: func(st *state, _ *Gene) bool { return st.settings.Coordinated }},
	"leaseFields":      {may: func(st *state, _ *Gene) bool { return st.settings.Coordinated }},
	"disruptLease":     {may: undisturbed},
	"deleteCandidates": {may: func(st *state, gene *Gene) bool { return st.settings.Coordinated && undisturbed(st, gene) }},
}

func text(gene *Gene, name string) string {
	value, _ := gene.Values[name].(string)
	return value
}

// several is whether there is a member beside the one that the step is played at.
func several(st *state, _ *Gene) bool { return st.settings.Members > 1 }

func undisturbed(st *state, _ *Gene) bool { return len(st.stopped)+len(st.active) == 0 }

// atMember is the disturbance of a gene that has one selector under member.
func atMember(st *state, gene *Gene) disturbance {
	d := disturbance{selector: text(gene, "member"), component: text(gene, "component"), fault: text(gene, "fault")}
	d.members, d.unknown, _ = st.members(d.selector)
	return d
}

// electing is whether a component only leads and follows: without it every member serves.
func electing(component string) bool {
	return component == "controller-manager" || component == "scheduler"
}

// mayStop is whether a member is left that serves, and a majority of etcd's. API servers can be
// stopped until a single one is left, which has no peers any more.
func mayStop(st *state, gene *Gene) bool {
	d := atMember(st, gene)
	switch {
	case electing(d.component):
		return true
	case d.component == string(cluster.APIServer) && st.servesBeside(d):
		return true
	}
	return st.quorum() && (d.unknown && d.selector != "@followers" || len(d.members) == 1)
}

func afterStop(st *state, gene *Gene) {
	d := atMember(st, gene)
	d.broad = !electing(d.component)
	// Which members of a selector are stopped follows from who leads at that time, so that only
	// a selector of the same members can start them.
	if d.unknown {
		d.selector = "@all"
	}
	st.stopped = append(st.stopped, d)
}

// stoppable are what there is to stop beside a whole member: each of its components as often, and the
// API servers of all members but one.
func stoppable(*state) []registry.Values {
	out := []registry.Values{{}, {"member": "@followers", "component": string(cluster.APIServer)}}
	for _, component := range []cluster.Component{cluster.Etcd, cluster.APIServer, cluster.ControllerManager, cluster.Scheduler} {
		out = append(out, registry.Values{"component": string(component)})
	}
	return out
}

func stoppedOnes(st *state) (out []registry.Values) {
	for _, d := range st.stopped {
		values := registry.Values{"member": d.selector}
		if d.component != "" {
			values["component"] = d.component
		}
		out = append(out, values)
	}
	return out
}

func stoppedBy(st *state, gene *Gene) int {
	return slices.IndexFunc(st.stopped, func(d disturbance) bool {
		return d.selector == text(gene, "member") && d.component == text(gene, "component")
	})
}

func mayBoot(st *state, gene *Gene) bool { return stoppedBy(st, gene) >= 0 }

func afterBoot(st *state, gene *Gene) {
	at := stoppedBy(st, gene)
	st.stopped = slices.Delete(st.stopped, at, at+1)
}

// injected is the disturbance by a fault that a gene injects. All API servers enforce a policy,
// through whichever of them it is made.
func injected(st *state, gene *Gene) disturbance {
	d := atMember(st, gene)
	f := gene.Faults[d.fault]
	d.broad, d.http, d.policy = f.Broad, kindOf(f.Entry) == fault.TypeHTTP, kindOf(f.Entry) == fault.TypeAdmission
	return d
}

func mayInject(st *state, gene *Gene) bool {
	d := injected(st, gene)
	switch {
	case slices.ContainsFunc(st.active, func(a disturbance) bool { return a.fault == d.fault }):
		return false
	case d.policy:
		// The step waits until all of them do.
		return !st.disturbed(nil, true, true)
	case !d.broad:
		return !st.disturbed(d.members, d.unknown, true)
	}
	single := d.unknown && d.selector != "@followers" || len(d.members) == 1
	return single && st.quorum() && !st.disturbed(d.members, d.unknown, false)
}

func afterInject(st *state, gene *Gene) { st.active = append(st.active, injected(st, gene)) }

func faults(st *state, http bool) (out []registry.Values) {
	for _, d := range st.active {
		if d.http || !http {
			out = append(out, registry.Values{"fault": d.fault})
		}
	}
	return out
}

func mayHeal(st *state, gene *Gene) bool {
	everywhere := text(gene, "member") == ""
	return everywhere && slices.ContainsFunc(st.active, func(d disturbance) bool { return d.fault == text(gene, "fault") })
}

func afterHeal(st *state, gene *Gene) {
	st.active = slices.DeleteFunc(st.active, func(d disturbance) bool { return d.fault == text(gene, "fault") })
}

// mayStrike is for a fault that ends with the step. At several members at once only single
// components are hit.
func mayStrike(st *state, gene *Gene) bool {
	d := atMember(st, gene)
	one := len(d.members) == 1 || d.unknown && d.selector != "@followers"
	return one || !gene.Faults[d.fault].Whole
}

// released is the release of each member after the gene; ok is false if a name means none.
func released(st *state, gene *Gene, selectors []string, name string) (after []int, ok bool) {
	after = slices.Clone(st.release)
	for _, selector := range selectors {
		members, unknown, known := st.members(selector)
		if !known || unknown && name != "" {
			return nil, false
		}
		for _, m := range members {
			if name == "" {
				continue
			}
			if after[m], ok = st.releaseIndex(name, st.release[m]); !ok {
				return nil, false
			}
		}
	}
	return after, true
}

func mayReplace(st *state, gene *Gene, direction int) bool {
	after, ok := released(st, gene, []string{text(gene, "member")}, text(gene, "to"))
	if !ok || !st.runnable(after) {
		return false
	}
	members, _, _ := st.members(text(gene, "member"))
	for _, m := range members {
		if (after[m]-st.release[m])*direction <= 0 {
			return false
		}
	}
	return len(members) > 0 && st.emulable(members, after, text(gene, "emulate"), "")
}

func afterReplace(st *state, gene *Gene) {
	st.release, _ = released(st, gene, []string{text(gene, "member")}, text(gene, "to"))
	st.highest = max(st.highest, slices.Max(st.release))
}

func restarted(gene *Gene) []string {
	var out []string
	values, _ := gene.Values["members"].([]any)
	for _, one := range values {
		out = append(out, one.(string))
	}
	return out
}

func mayRestart(st *state, gene *Gene) bool {
	after, ok := released(st, gene, restarted(gene), text(gene, "release"))
	if !ok || !st.runnable(after) {
		return false
	}
	// One after the other, the members are mixed on the way.
	between := slices.Concat(st.release, after)
	together, _ := gene.Values["together"].(bool)
	return together || st.runnable(between)
}

func afterRestart(st *state, gene *Gene) {
	st.release, _ = released(st, gene, restarted(gene), text(gene, "release"))
	st.highest = max(st.highest, slices.Max(st.release))
}

func afterMutate(st *state, gene *Gene) {
	population := text(gene, "population")
	drop(&st.mutating, population)
	if number(gene.Values["rate"]) > 0 {
		add(&st.mutating, population)
	}
}

// migratable are the populations, and what else there is to migrate.
func migratable(st *state) []registry.Values {
	out := []registry.Values{{}}
	for _, name := range st.names[population] {
		out = append(out, registry.Values{"population": name}, registry.Values{"population": name})
	}
	return out
}

// mayMigrate is whether what the step waits for can come: a share of a population, while nothing
// keeps the migration from going on.
func mayMigrate(st *state, gene *Gene) bool {
	wait, _ := gene.Values["wait"].(bool)
	return !wait && text(gene, "until") == "" || undisturbed(st, gene) && text(gene, "population") != ""
}

func mayAwait(st *state, gene *Gene) bool { return undisturbed(st, gene) }

func afterMigrate(st *state, gene *Gene) {
	if wait, _ := gene.Values["wait"].(bool); !wait {
		add(&st.pending, text(gene, "name"))
	}
}

func afterAwait(st *state, gene *Gene) {
	if text(gene, "until") != "" {
		return
	}
	names, _ := gene.Values["migrations"].([]any)
	for _, name := range names {
		drop(&st.pending, name.(string))
	}
}

func afterDeleteNamespace(st *state, gene *Gene) {
	population := text(gene, "population")
	delete(st.namespaces, population)
	for what := range st.names {
		forget(st, what, population)
	}
	drop(&st.mutating, population)
}

// answering has a backend answer correctly again.
const answering = "answer"

// backendMayMisbehave is whether the backend is defined, without which no API server asks it.
func backendMayMisbehave(st *state, gene *Gene) bool {
	name := text(gene, "name")
	return slices.Contains(st.defined, name) && (text(gene, "behavior") != answering) != slices.Contains(st.away, name)
}

func afterBackend(st *state, gene *Gene) {
	drop(&st.away, text(gene, "name"))
	if text(gene, "behavior") != answering {
		add(&st.away, text(gene, "name"))
	}
}

// defined is the API that a gene registers or deletes.
func defined(gene *Gene) string {
	if backend := text(gene, "backend"); backend != "" {
		return backend
	}
	return text(gene, "crd") + "/" + text(gene, "group")
}

func add(to *[]string, name string) { *to = append(*to, name) }

func drop(from *[]string, name string) {
	*from = slices.DeleteFunc(*from, func(one string) bool { return one == name })
}

func forget(st *state, what, name string) {
	st.names[what] = slices.DeleteFunc(st.names[what], func(one string) bool { return one == name })
}

func number(value any) float64 {
	switch n := value.(type) {
	case int:
		return float64(n)
	case float64:
		return n
	}
	return 0
}
