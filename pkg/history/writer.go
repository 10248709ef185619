package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"k8s.io/utils/clock"
)

const (
	// FlushInterval is the longest that an event stays in memory only: what a
	// harness killed without warning may lose.
	FlushInterval = 100 * time.Millisecond
	// maxBuffered is how many bytes may wait for a slow disk before recorders
	// have to wait for it too; it keeps a stalled disk from eating the memory.
	maxBuffered = 64 << 20
	// ClockStep is by how much the clock of the machine may come to differ from the time of
	// the history. A control plane writes times of the machine's clock, and the checks
	// convert them to times of the history by Header.Started.
	ClockStep = time.Second
)

// Writer appends events to a history file, one JSON object per line. All its
// methods may be called from any goroutine. A Writer that could not write
// keeps the first error and drops everything after it: the file then ends in
// whatever reached the disk, which a Reader reports as cut off.
type Writer struct {
	clock   clock.WithTicker
	started time.Time
	header  Header

	mu          sync.Mutex
	room        *sync.Cond // signaled when the buffer was handed to the disk
	buf         []byte
	spare       []byte
	seq         int64
	size        int64 // of all lines so far, the header left aside
	stepped     bool  // whether the history tells that the clock was set
	closed      bool
	err         error
	subscribers []func(Event)
	undelivered []Event

	file   *os.File
	failed chan struct{}
	stop   chan struct{}
	done   chan struct{}
}

// Create starts a new history file and writes its header. It fills in the
// header's Format, Version and, where it is zero, Started; the time of every
// event counts from then on the clock's monotonic reading. An existing file is
// never overwritten.
func Create(path string, header Header, clk clock.WithTicker) (*Writer, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create the history: %w", err)
	}
	w := &Writer{
		clock:   clk,
		started: clk.Now(),
		file:    file,
		failed:  make(chan struct{}),
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
	}
	w.room = sync.NewCond(&w.mu)
	header.Format, header.Version = Format, Version
	if header.Started.IsZero() {
		header.Started = w.started.UTC()
	}
	w.header = header
	line, err := json.Marshal(header)
	if err == nil {
		_, err = file.Write(append(line, '\n'))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write the header of the history: %w", err), file.Close())
	}
	go w.flushLoop(clk.NewTicker(FlushInterval))
	return w, nil
}

// Header is the header as it was written.
func (w *Writer) Header() Header { return w.header }

// Now is the time in the history: what an event recorded now would get as At.
func (w *Writer) Now() int64 { return int64(w.clock.Since(w.started)) }

// Subscribe has every later event delivered to f, in order, from one goroutine
// and up to FlushInterval after it was recorded, so that a slow subscriber
// holds up no recorder.
func (w *Writer) Subscribe(f func(Event)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.subscribers = append(w.subscribers, f)
}

// Record appends one event, and gives it its Seq and At. Taking the time here,
// under the lock, makes the times of a file never decrease; an event is at
// most recorded later than it happened, which only widens its interval.
// Events after Close or after a failure are dropped.
func (w *Writer) Record(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.buf) >= maxBuffered && w.err == nil && !w.closed {
		w.room.Wait()
	}
	if w.closed || w.err != nil {
		return
	}
	w.append(e)
}

// append must be called with the lock held.
func (w *Writer) append(e Event) {
	e.Seq, e.At = w.seq+1, w.Now()
	line, err := json.Marshal(e)
	if err != nil {
		w.fail(fmt.Errorf("encode event %d of kind %s: %w", e.Seq, e.Kind, err))
		return
	}
	if err := overBounds(w.size, e, len(line)); err != nil {
		w.fail(err)
		return
	}
	w.seq = e.Seq
	w.size += int64(len(line)) + 1
	w.buf = append(append(w.buf, line...), '\n')
	if len(w.subscribers) > 0 {
		w.undelivered = append(w.undelivered, e)
	}
}

// overBounds is an error where a reader would refuse an event of that many bytes after that
// many others, so that the run cannot go on.
func overBounds(size int64, e Event, length int) error {
	switch {
	case length >= MaxLine:
		return fmt.Errorf("event %d of kind %s has %d bytes, and a line of a history has fewer than %d: it cannot be recorded, so the run cannot go on", e.Seq, e.Kind, length, MaxLine)
	case size+int64(length) >= MaxSize-MaxLine: // The header takes one line too.
		return fmt.Errorf("the history has reached %d bytes, and may not have more than %d, so the run cannot go on: play a shorter scenario, or one with less traffic", size, MaxSize)
	case e.At > int64(MaxTime):
		return fmt.Errorf("the run has lasted %s, and may not last longer than %s: play a shorter scenario", time.Duration(e.At).Round(time.Second), MaxTime)
	}
	return nil
}

// watchClock notes once that the clock of the machine was set, or that the machine slept:
// no time that others have written can be compared with those of the history any more. It
// must be called with the lock held.
func (w *Writer) watchClock() {
	if w.stepped || w.closed || w.err != nil {
		return
	}
	// Without its monotonic reading a time is what the clock said.
	off := w.clock.Now().Round(0).Sub(w.started.Round(0)) - w.clock.Since(w.started)
	if off.Abs() <= ClockStep {
		return
	}
	w.stepped = true
	w.append(Event{Kind: KindRecorderMissed, RecorderMissed: &RecorderMissed{Source: SourceClock, Message: fmt.Sprintf("the clock of the machine was set by %s, or the machine slept, while the history was recorded", off.Round(time.Millisecond))}})
}

// fail must be called with the lock held.
func (w *Writer) fail(err error) {
	if w.err != nil {
		return
	}
	w.err = err
	close(w.failed)
	w.room.Broadcast()
}

// Failed is closed when the history cannot be written any more; the run must
// stop then, and Err says why.
func (w *Writer) Failed() <-chan struct{} { return w.failed }

// Err is the error that made the Writer give up, or nil.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *Writer) flushLoop(ticker clock.Ticker) {
	defer close(w.done)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C():
			w.flush()
		case <-w.stop:
			w.flush()
			return
		}
	}
}

// flush writes what is buffered, outside the lock, and only whole lines.
func (w *Writer) flush() {
	w.mu.Lock()
	w.watchClock()
	chunk, events, subscribers := w.buf, w.undelivered, w.subscribers
	w.buf, w.undelivered = w.spare[:0], nil
	healthy := w.err == nil
	w.room.Broadcast()
	w.mu.Unlock()

	if len(chunk) > 0 && healthy {
		if _, err := w.file.Write(chunk); err != nil {
			w.mu.Lock()
			w.fail(writeError(w.file.Name(), err))
			w.mu.Unlock()
		}
	}
	for _, e := range events {
		for _, f := range subscribers {
			f(e)
		}
	}
	w.mu.Lock()
	w.spare = chunk
	w.mu.Unlock()
}

func writeError(name string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk is full, so the history %s is cut off and the run cannot go on; free some space and run again: %w", name, err)
	}
	return fmt.Errorf("the history %s cannot be written, so the run cannot go on: %w", name, err)
}

// Close records the end event, writes everything out to the disk and closes
// the file. It returns the error that Err would, and is safe to call twice.
func (w *Writer) Close(end End) error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		<-w.done
		return w.Err()
	}
	w.watchClock()
	if w.err == nil {
		w.append(Event{Kind: KindEnd, End: &end})
	}
	w.closed = true
	w.room.Broadcast()
	w.mu.Unlock()

	close(w.stop)
	<-w.done
	if err := errors.Join(w.file.Sync(), w.file.Close()); err != nil {
		w.mu.Lock()
		w.fail(writeError(w.file.Name(), err))
		w.mu.Unlock()
	}
	return w.Err()
}
