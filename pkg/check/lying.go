package check

// lying counts the objects of one resource that lie in etcd, by their version.
type lying map[string]int64

func (l lying) total() (n int64) {
	for _, each := range l {
		n += each
	}
	return n
}

// left is whether some object lies in another version.
func (l lying) left(version string) bool { return l.total() > l[version] }

// lyingOf is what is counted of a resource; it goes on being counted.
func (ms *migrations) lyingOf(gr groupResource) lying {
	if ms.lying[gr] == nil {
		ms.lying[gr] = lying{}
	}
	return ms.lying[gr]
}

// count takes what became of an object; before is nil if it is new, and now if it went.
func (ms *migrations) count(before, now *objectSeen) {
	if before != nil {
		ms.lyingOf(before.gr)[before.version]--
	}
	if now != nil {
		ms.lyingOf(now.gr)[now.version]++
	}
}
