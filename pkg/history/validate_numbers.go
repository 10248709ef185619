package history

import "fmt"

// number is one that a recorder counts or reads from etcd, which is never negative. What a
// server says of itself may be anything, and is no matter of the format.
type number struct {
	name  string
	value int64
}

// numberProblem is that a number is out of its range.
func numberProblem(e *Event) string {
	for _, n := range numbers(e) {
		if n.value < 0 {
			return fmt.Sprintf("has %d as its %s", n.value, n.name)
		}
	}
	if code := statusOf(e); code < 0 || code > maxCode {
		return fmt.Sprintf("has the status %d, which HTTP does not have", code)
	}
	return ""
}

func numbers(e *Event) []number {
	switch {
	case e.Step != nil:
		return []number{{"index", int64(e.Step.Index)}}
	case e.NotReached != nil:
		return []number{{"step", int64(e.NotReached.Step)}, {"bound", e.NotReached.Bound}}
	case e.Hold != nil:
		return []number{{"revision", e.Hold.Revision}}
	case e.Process != nil:
		return []number{{"instance", int64(e.Process.Instance)}, {"pid", int64(e.Process.PID)}, {"startTime", e.Process.StartTime}}
	case e.Request != nil:
		return []number{{"rv", e.Request.ResourceVersion}, {"write", e.Request.Write}}
	case e.Ready != nil:
		return []number{{"revision", e.Ready.Revision}}
	case e.HostedResources != nil:
		return []number{{"revision", e.HostedResources.Revision}}
	case e.Watch != nil:
		return []number{{"rv", e.Watch.ResourceVersion}}
	case e.Stored != nil:
		return []number{{"revision", e.Stored.Revision}, {"created", e.Stored.Created}, {"write", e.Stored.Write}}
	case e.Fault != nil:
		return []number{{"count", e.Fault.Count}}
	case e.InterceptedRequest != nil:
		return []number{{"held", e.InterceptedRequest.Held}}
	case e.Read != nil:
		r := e.Read
		return []number{{"after", r.After}, {"asked", int64(r.Asked)}, {"items", int64(r.Items)}, {"stored", int64(r.Stored)},
			{"missing", int64(r.Missing)}, {"extra", int64(r.Extra)}, {"older", int64(r.Older)}, {"newer", int64(r.Newer)}}
	case e.Visibility != nil:
		return []number{{"write", e.Visibility.Write}}
	case e.EtcdHash != nil:
		return []number{{"revision", e.EtcdHash.Revision}}
	case e.CustomResourceAnswer != nil:
		return []number{{"instance", int64(e.CustomResourceAnswer.Instance)}, {"count", int64(e.CustomResourceAnswer.Count)}}
	case e.Starvation != nil:
		return []number{{"cpu", e.Starvation.CPU}, {"disk", e.Starvation.Disk}, {"harness", e.Starvation.Harness}}
	case e.DiscoveryDocument != nil:
		return []number{{"sweep", e.DiscoveryDocument.Sweep}, {"size", int64(e.DiscoveryDocument.Size)}}
	}
	return nil
}

// statusOf is the status of HTTP in an event; 0 where it has none. The one in a Watch is
// what a server wrote into a body, and is not among them.
func statusOf(e *Event) int {
	switch {
	case e.Request != nil:
		return e.Request.Code
	case e.Ready != nil:
		return e.Ready.Code
	case e.InterceptedRequest != nil:
		return e.InterceptedRequest.Code
	case e.LoadBalancer != nil:
		return e.LoadBalancer.Code
	case e.Read != nil:
		return e.Read.Code
	case e.CustomResourceAnswer != nil:
		return e.CustomResourceAnswer.Code
	case e.DiscoveryDocument != nil:
		return e.DiscoveryDocument.Code
	}
	return 0
}
