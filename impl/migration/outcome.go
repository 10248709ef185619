package migration

import (
	"errors"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Outcome is the result of an attempt to write an object back as it was listed.
type Outcome string

// The outcomes of an attempt.
const (
	// Written: it is stored in the agreed version now, or was before.
	Written Outcome = "written"
	// Overtaken: another client wrote the object since it was listed, or replaced it by
	// another one of its name. Every server stores in the agreed version, so it is done.
	Overtaken Outcome = "overtaken"
	// Gone: it was deleted, alone or with its namespace. It is not brought back:
	// the attempt names its uid.
	Gone Outcome = "gone"
	// Unserved: no server answers for the resource any more. That says nothing about the
	// object, which may be stored as before and return with its server.
	Unserved Outcome = "unserved"
	// Again: it did not work this time.
	Again Outcome = "again"
	// Broken: the server erred. It may be a passing error; see ObjectPatience.
	Broken Outcome = "broken"
	// Refused: the server does not accept the object as it is. It may be stored in
	// another version still, so the migration cannot succeed.
	Refused Outcome = "refused"
)

// Classify is the outcome of a request about one object, or of a list if object is empty,
// with how long the server asked to wait.
func Classify(err error, resource schema.GroupResource, object string) (Outcome, time.Duration) {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	asked := time.Duration(seconds) * time.Second
	switch {
	case err == nil:
		return Written, 0
	case IsAbout(err, resource, object):
		return Gone, 0
	case apierrors.IsNotFound(err):
		return Unserved, 0
	case apierrors.IsConflict(err):
		return Overtaken, 0
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// It will be gone; until it is, it is not migrated.
		return Again, asked
	case apierrors.IsTooManyRequests(err), apierrors.IsServiceUnavailable(err), apierrors.IsTimeout(err),
		apierrors.IsServerTimeout(err), apierrors.IsUnauthorized(err):
		return Again, asked
	}
	switch code := codeOf(err); {
	case code == 0, code > http.StatusNotImplemented:
		// No answer, or one of a proxy in between: the connection broke, or the time
		// was over.
		return Again, asked
	case code >= http.StatusInternalServerError:
		return Broken, asked
	}
	return Refused, 0
}

// IsAbout reports whether an error says that the object does not exist, and not that no
// server answers for its resource. A server that does not know the path answers 404 as
// well, as after an APIService or a definition was deleted. Only a server that looked for
// the object names it in its answer.
func IsAbout(err error, resource schema.GroupResource, object string) bool {
	var answer apierrors.APIStatus
	if object == "" || !apierrors.IsNotFound(err) || !errors.As(err, &answer) {
		return false
	}
	details := answer.Status().Details
	return details != nil && details.Name == object && details.Kind == resource.Resource &&
		!apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// codeOf is the status code of an answer, 0 if there was none.
func codeOf(err error) int32 {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return 0
	}
	return status.Status().Code
}
