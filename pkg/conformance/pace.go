package conformance

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// Auto is Options.Parallel where the campaign finds out how many runs it can play at a time.
const Auto = -1

const (
	// autoPerCPU is how many runs for each CPU are played at a time at most: a run waits most
	// of its time.
	autoPerCPU = 3
	// autoAgain is how many runs in a row have to end without starvation until as many are
	// played at a time again as starved once: what else runs on the machine may have ended. It
	// takes twice as many each time after that.
	autoAgain = 20
	// autoSpare is how many CPUs have to be idle for one more run, on average over the last
	// autoLooks: a control plane takes more while it starts than afterwards, and a run has
	// moments in which it takes all there is.
	autoSpare = 0.5
	autoLooks = 4
	// autoLook is how often the machine is looked at.
	autoLook = 5 * time.Second
)

// ParseParallel reads how many runs are to be played at a time: a number, or auto.
func ParseParallel(text string) (int, error) {
	if text == "auto" {
		return Auto, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("--parallel %q is neither auto nor a number of at least 1", text)
	}
	return n, nil
}

// pace says how many runs are played at a time. With auto it begins with half of the CPUs. It
// plays one more when CPUs have been idle for a while, or when as many in a row have ended as are
// played at a time, and half as many when a run was starved; from then on it stays below what
// starved.
type pace struct {
	auto bool
	cpus int

	mu   sync.Mutex
	free *sync.Cond
	// limit is how many may be played at a time, most the highest limit, and running are played.
	limit, most, running int
	// ceiling is a limit with which a run was starved; 0 if none was.
	ceiling int
	// again is how many runs in a row have to end without starvation until the ceiling is
	// tried once more.
	again int
	// clean counts runs in a row that were not starved, since the limit changed.
	clean int
	// spared are how many CPUs the last looks found idle while all runs were played that may be.
	spared []float64
	// age counts steps back. A run that began before one says nothing of what is played after it.
	age int
}

// newPace makes the pace of a campaign on a machine with so many CPUs.
func newPace(parallel, cpus int) *pace {
	p := &pace{cpus: cpus, limit: parallel, most: parallel, again: autoAgain}
	if parallel == Auto {
		p.auto, p.limit, p.most = true, max(cpus/2, 1), cpus*autoPerCPU
	}
	p.free = sync.NewCond(&p.mu)
	return p
}

// begin waits until one more run may be played. It returns the age of the limit.
func (p *pace) begin(ctx context.Context) (age int, err error) {
	stop := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free.Broadcast()
	})
	defer stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.running >= p.limit && ctx.Err() == nil {
		p.free.Wait()
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	p.running++
	return p.age, nil
}

// end says that a run is played no longer.
func (p *pace) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
	p.free.Broadcast()
}

// now is how many runs may be played at a time.
func (p *pace) now() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

// learn takes into account how a run has ended that began at that age. It returns the limit, and
// whether it is another one.
func (p *pace) learn(age int, starved bool) (limit int, changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.limit
	switch {
	case !p.auto || age != p.age:
	case starved:
		p.clean = 0
		if p.limit > 1 {
			if p.ceiling > 0 {
				p.again *= 2
			}
			p.ceiling, p.limit = p.limit, p.limit/2
			p.age++
		}
	default:
		p.clean++
		if p.clean >= p.limit && (p.mayRise() || p.limit < p.most && p.clean >= p.again) {
			p.limit++
		}
	}
	return p.changed(before)
}

// look takes into account how many CPUs were idle since the last look.
func (p *pace) look(idle float64) (limit int, changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.limit
	if p.running < p.limit {
		p.spared = nil
		return p.limit, false
	}
	p.spared = append(p.spared, idle)
	p.spared = p.spared[max(len(p.spared)-autoLooks, 0):]
	if len(p.spared) == autoLooks && mean(p.spared) >= autoSpare && p.mayRise() {
		p.limit++
	}
	return p.changed(before)
}

func mean(of []float64) float64 {
	sum := 0.0
	for _, v := range of {
		sum += v
	}
	return sum / float64(len(of))
}

// mayRise is whether one more may be played without coming to what starved.
func (p *pace) mayRise() bool {
	return p.limit < p.most && (p.ceiling == 0 || p.limit+1 != p.ceiling)
}

// changed lets waiting runs begin where the limit is not what it was before.
func (p *pace) changed(before int) (limit int, changed bool) {
	if p.limit == before {
		return p.limit, false
	}
	p.clean, p.spared = 0, nil
	p.free.Broadcast()
	return p.limit, true
}
