package history

// MemberOf finds the member on whose host the holder of a Lease runs, by its place
// among the Members. It is -1 where the holder is no member's.
func (h *Header) MemberOf(holder string) int {
	host := Host(holder)
	if host == "" {
		return -1
	}
	for i, m := range h.Members {
		if m.Host == host || m.Host == "" && m.Name == host {
			return i
		}
	}
	return -1
}

// Mixed is whether members ran different releases, given what each of them ran.
func Mixed(releases map[string]string) bool {
	first, known := "", false
	for _, release := range releases {
		if known && release != first {
			return true
		}
		first, known = release, true
	}
	return false
}
