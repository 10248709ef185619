package conformance

import (
	"fmt"
)

// Shard is the part of a plan that one machine plays: every Of-th line, from Index on. The
// zero value is the whole plan.
type Shard struct {
	Index int `json:"index,omitempty"`
	Of    int `json:"of,omitempty"`
}

// ParseShard reads a shard such as 1/4. Empty is the whole plan.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	var s Shard
	n, err := fmt.Sscanf(text, "%d/%d", &s.Index, &s.Of)
	if err != nil || n != 2 || text != s.String() || s.Index < 1 || s.Index > s.Of {
		return Shard{}, fmt.Errorf("--shard %q is no part of a plan: name it such as 1/4, which is the first of four", text)
	}
	return s, nil
}

func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// has is whether the line of that number belongs to the shard.
func (s Shard) has(line int) bool { return s.Of == 0 || (line-1)%s.Of == s.Index-1 }
