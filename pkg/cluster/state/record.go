package state

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
)

const (
	recordFile = "cluster.json"
	// nascent begins the name of a folder that has no record yet.
	nascent = ".new-"

	folderMode = 0o700
	fileMode   = 0o600
)

// Record is what cluster.json says of a cluster.
type Record struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Topology is the name of the topology, and File where it came from.
	Topology string `json:"topology"`
	File     string `json:"file,omitempty"`
	Provider string `json:"provider"`
	// Owner is the process that answers for the cluster.
	Owner   Owner     `json:"owner"`
	Created time.Time `json:"created"`
	// Bundle is where the run leaves its bundle; empty for a cluster that no
	// run owns.
	Bundle     string   `json:"bundle,omitempty"`
	Kubeconfig string   `json:"kubeconfig,omitempty"`
	Members    []Member `json:"members,omitempty"`
}

// Member is what a record says of a member.
type Member struct {
	Name     string `json:"name"`
	ServerID string `json:"serverID"`
	// Release that it began with.
	Release string `json:"release"`
	// URL of its API server, bypassing all links.
	URL string `json:"url"`
}

// Owner names a process so that a later one with the same PID is not taken
// for it.
type Owner struct {
	PID       int    `json:"pid"`
	StartTime int64  `json:"startTime"`
	Boot      string `json:"boot"`
	// Purpose is what the process does, in a word.
	Purpose string `json:"purpose,omitempty"`
}

// Self is this process as an owner.
func Self(purpose string) (Owner, error) {
	stat, err := procfs.Read(os.Getpid())
	if err != nil {
		return Owner{}, fmt.Errorf("this process cannot be found in /proc, without which no cluster can be cleaned up safely: %w", err)
	}
	return Owner{PID: os.Getpid(), StartTime: stat.StartTime, Boot: procfs.BootID(), Purpose: purpose}, nil
}

// Alive is whether the owner still runs.
func (o Owner) Alive() bool {
	return o.Boot == procfs.BootID() && procfs.Alive(o.PID, o.StartTime)
}

// NewID makes an ID for a cluster of the name that no other cluster has.
func NewID(name string) string {
	var random [4]byte
	rand.Read(random[:]) // never fails, see its documentation
	return name + "-" + hex.EncodeToString(random[:])
}

// Entry is a registered cluster and its folder.
type Entry struct {
	Dir string

	mu     sync.Mutex
	record Record
}

// Register makes the cluster's folder below root. From then on until Remove
// the cluster counts as existing.
func Register(root string, record Record) (*Entry, error) {
	explain := func(err error) error {
		return fmt.Errorf("cannot make a folder for the cluster in %s: %w; set %s to a folder that can be written to", root, err, RootVariable)
	}
	if err := os.MkdirAll(root, folderMode); err != nil {
		return nil, explain(err)
	}
	// The folder gets its name only when its record is complete, so that no
	// moment exists in which a folder could not be told whose it is.
	making := filepath.Join(root, nascent+record.ID)
	if err := os.Mkdir(making, folderMode); err != nil {
		return nil, explain(err)
	}
	if err := write(making, record); err != nil {
		return nil, errors.Join(explain(err), os.RemoveAll(making))
	}
	dir := filepath.Join(root, record.ID)
	if err := os.Rename(making, dir); err != nil {
		return nil, errors.Join(explain(err), os.RemoveAll(making))
	}
	return &Entry{Dir: dir, record: record}, nil
}

// Record is the entry's content.
func (e *Entry) Record() Record {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.record
}

// Update changes the record.
func (e *Entry) Update(change func(*Record)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	changed := e.record
	change(&changed)
	if err := write(e.Dir, changed); err != nil {
		return fmt.Errorf("cannot update the record of cluster %s: %w", changed.ID, err)
	}
	e.record = changed
	return nil
}

// Remove deletes the folder and so ends the cluster's registration.
func (e *Entry) Remove() error {
	// It loses its name first, so that a removal that is cut short leaves what
	// the next clean-up knows, and not a cluster without a record.
	half := filepath.Join(filepath.Dir(e.Dir), nascent+filepath.Base(e.Dir))
	if err := os.Rename(e.Dir, half); err != nil && !errors.Is(err, os.ErrNotExist) {
		return os.RemoveAll(e.Dir)
	}
	return os.RemoveAll(half)
}

// RemoveExcept deletes all of the folder but the record and the file or folder
// of the name; the cluster stays registered.
func (e *Entry) RemoveExcept(name string) error {
	files, err := os.ReadDir(e.Dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		if file.Name() == name || file.Name() == recordFile {
			continue
		}
		if err := os.RemoveAll(filepath.Join(e.Dir, file.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Owned gives the clusters that this process owns.
func Owned(root string) ([]*Entry, error) {
	entries, err := List(root)
	var owned []*Entry
	for _, entry := range entries {
		if owner := entry.Record().Owner; owner.PID == os.Getpid() && owner.Alive() {
			owned = append(owned, entry)
		}
	}
	return owned, err
}

// write replaces the record in one step: a reader sees the old or the new one.
func write(dir string, record Record) error {
	raw, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return err
	}
	temporary := filepath.Join(dir, recordFile+".tmp")
	if err := os.WriteFile(temporary, append(raw, '\n'), fileMode); err != nil {
		return err
	}
	return os.Rename(temporary, filepath.Join(dir, recordFile))
}

func read(dir string) (*Entry, error) {
	raw, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err != nil {
		return nil, err
	}
	entry := &Entry{Dir: dir}
	if err := json.Unmarshal(raw, &entry.record); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, recordFile), err)
	}
	// The ID selects processes to kill, so it must not be taken on trust.
	if entry.record.ID == "" || entry.record.ID != filepath.Base(dir) {
		return nil, fmt.Errorf("%s names the cluster %q, not its folder", filepath.Join(dir, recordFile), entry.record.ID)
	}
	return entry, nil
}

// List gives all registered clusters, by ID. Folders without a readable record
// are named in the error, beside the clusters that could be read.
func List(root string) ([]*Entry, error) {
	folders, err := os.ReadDir(root)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var (
		entries []*Entry
		broken  []error
	)
	for _, folder := range folders {
		if !folder.IsDir() || folder.Name()[0] == '.' {
			continue
		}
		entry, err := read(filepath.Join(root, folder.Name()))
		switch {
		case errors.Is(err, os.ErrNotExist) && gone(filepath.Join(root, folder.Name())):
			// Removed while we listed.
		case err != nil:
			broken = append(broken, err)
		default:
			entries = append(entries, entry)
		}
	}
	return entries, errors.Join(broken...)
}

func gone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, os.ErrNotExist)
}
