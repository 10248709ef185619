package law

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Row is what every law declares.
type Row struct {
	// ID of the requirement that the law is.
	ID requirement.ID
	// Sources are the recorders that must have missed nothing.
	Sources []fact.Source
	// Needs are what must have been seen for a pass. At least one.
	Needs []Need
	// Kinds of breaches that documented deviations may explain.
	Kinds []string
	// Takes are the history.Lack… values that keep the law from judging a run. Nil means Usual:
	// most laws judge from the life of every process and from what etcd holds. A law for which
	// that does not hold says so by a list, or by AnyRun.
	Takes []string
	// Also are further such values, of a law that takes the usual ones too.
	Also []string
}

// Usual is Row.Takes of most laws.
var Usual = []string{history.LackBeginning, history.LackEtcd, history.LackProcesses}

// AnyRun is Row.Takes of a law that judges every run.
var AnyRun = []string{}

// Lacking are those of the history.Lack… values that keep the law from judging a run.
func (r Row) Lacking() []string {
	if r.Takes == nil {
		return slices.Concat(Usual, r.Also)
	}
	return slices.Concat(r.Takes, r.Also)
}

// Need counts obligations that were met. How many there must be says the need of the
// same name in the catalog.
type Need struct {
	// Name in the catalog.
	Name string
	// Tag that is counted; empty counts all that were met.
	Tag string
	// Each has the least of any member count, of the obligations that members met.
	Each bool
	// Distinct counts what the obligations are about, each once.
	Distinct bool
	// Breaches counts what was late or broken too: where that is a documented deviation,
	// the promise was put to the test all the same.
	Breaches bool
}

// Law is a requirement over the facts F of a KEP.
type Law[F any] interface {
	row() Row
	// judge enters all obligations that the facts show.
	judge(facts F, bounds Bounds) *Ledger
}

// Bounds are the bounds and tolerances of a requirement by name.
type Bounds struct {
	id   requirement.ID
	over *fact.History
}

// Of gives a bound or tolerance of the requirement. It panics where the catalog has
// none of the name: laws and the catalog are compiled together, and a test asks for all.
func (b Bounds) Of(name string) time.Duration { return requirement.MustBound(b.id, name) }

// Number gives a bound or tolerance that is a number.
func (b Bounds) Number(name string) float64 { return requirement.MustNumber(b.id, name) }

// Over is the last instant of the history.
func (b Bounds) Over() fact.Moment { return b.over.Over() }

// KEP is the facts and laws of one KEP, ready to judge a history.
type KEP interface {
	// IDs are the requirements that the KEP has laws for, and Rows what these declare.
	IDs() []requirement.ID
	Rows() []Row
	// Begin derives the facts of a history of which nothing was observed.
	Begin(h *fact.History) Facts
}

// Facts are the facts of one KEP about one history.
type Facts interface {
	// Observe takes the next event in, after the fact.History did.
	Observe(ev *history.Event)
	// Judge gives the ledger of a requirement by all that was observed so far.
	Judge(id requirement.ID) (Row, *Ledger)
}

// New makes a KEP of the facts that begin makes, each of which observes events, and of
// the laws over them.
func New[F interface{ Observe(ev *history.Event) }](begin func(h *fact.History) F, laws []Law[F]) KEP {
	return kep[F]{begin, laws}
}

type kep[F interface{ Observe(ev *history.Event) }] struct {
	begin func(h *fact.History) F
	laws  []Law[F]
}

func (k kep[F]) IDs() []requirement.ID {
	return fact.Each(k.Rows(), func(r Row) requirement.ID { return r.ID })
}

func (k kep[F]) Rows() []Row {
	return fact.Each(k.laws, Law[F].row)
}

func (k kep[F]) Begin(h *fact.History) Facts {
	return &facts[F]{over: h, of: k.begin(h), laws: k.laws}
}

type facts[F interface{ Observe(ev *history.Event) }] struct {
	over *fact.History
	of   F
	laws []Law[F]
}

func (f *facts[F]) Observe(ev *history.Event) { f.of.Observe(ev) }

func (f *facts[F]) Judge(id requirement.ID) (Row, *Ledger) {
	for _, l := range f.laws {
		if row := l.row(); row.ID == id {
			ledger := l.judge(f.of, Bounds{id: id, over: f.over})
			ledger.forget(f.over, row)
			return row, ledger
		}
	}
	return Row{ID: id}, &Ledger{}
}
