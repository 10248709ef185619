package storageversion
import ("github.com/evenkeel/evenkeel/pkg/history")
type shown map[string]int
func (s shown) observe(ev *history.Event) {}
