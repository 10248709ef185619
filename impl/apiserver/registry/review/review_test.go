package review

import (
	"context"
	"errors"
	"net/http"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// knows authenticates one token, and every other client as anonymous.
var knows = authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
	switch r.Header.Get("Authorization") {
	case "Bearer good":
		return &authenticator.Response{User: &user.DefaultInfo{Name: "joe", Groups: []string{"g"}}}, true, nil
	case "Bearer broken":
		return nil, false, errors.New("cannot tell")
	default:
		return &authenticator.Response{User: &user.DefaultInfo{Name: user.Anonymous}}, true, nil
	}
})

// allows lets joe read, and denies everything else.
var allows = authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.GetUser().GetName() == "joe" && a.GetVerb() == "get" {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "not allowed", nil
})

func TestTokenReview(t *testing.T) {
	tests := []struct {
		token         string
		authenticated bool
		failed        bool
	}{
		{"good", true, false},
		{"unknown", false, false},
		{"broken", false, true},
	}
	for _, test := range tests {
		review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: test.token}}
		if _, err := NewTokenReview(knows).Create(t.Context(), review, nil, &metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if review.Status.Authenticated != test.authenticated || (review.Status.Error != "") != test.failed {
			t.Errorf("token %q: got %+v", test.token, review.Status)
		}
		if review.Spec.Token != "" {
			t.Errorf("token %q: the answer repeats it", test.token)
		}
	}
	_, err := NewTokenReview(knows).Create(t.Context(), &authenticationv1.TokenReview{}, nil, nil)
	if !apierrors.IsBadRequest(err) {
		t.Errorf("a review without token: got %v, want a bad request", err)
	}
}

func TestSubjectAccessReview(t *testing.T) {
	get := &authorizationv1.ResourceAttributes{Verb: "get", Resource: "configmaps"}
	tests := []struct {
		name    string
		spec    authorizationv1.SubjectAccessReviewSpec
		allowed bool
		refused bool
	}{
		{"allowed", authorizationv1.SubjectAccessReviewSpec{User: "joe", ResourceAttributes: get}, true, false},
		{"not allowed", authorizationv1.SubjectAccessReviewSpec{User: "jane", ResourceAttributes: get}, false, false},
		{"a path", authorizationv1.SubjectAccessReviewSpec{User: "joe", NonResourceAttributes: &authorizationv1.NonResourceAttributes{Verb: "get", Path: "/x"}}, true, false},
		{"no user", authorizationv1.SubjectAccessReviewSpec{ResourceAttributes: get}, false, true},
		{"nothing", authorizationv1.SubjectAccessReviewSpec{User: "joe"}, false, true},
	}
	for _, test := range tests {
		review := &authorizationv1.SubjectAccessReview{Spec: test.spec}
		_, err := NewSubjectAccessReview(allows).Create(t.Context(), review, nil, nil)
		if apierrors.IsBadRequest(err) != test.refused || review.Status.Allowed != test.allowed {
			t.Errorf("%s: got %+v, %v", test.name, review.Status, err)
		}
	}
}

func TestReviewsOfOneself(t *testing.T) {
	ctx := request.WithUser(t.Context(), &user.DefaultInfo{Name: "joe", Extra: map[string][]string{"k": {"v"}}})
	who := &authenticationv1.SelfSubjectReview{}
	if _, err := NewSelfSubjectReview().Create(ctx, who, nil, nil); err != nil {
		t.Fatal(err)
	}
	if who.Status.UserInfo.Username != "joe" || len(who.Status.UserInfo.Extra) != 1 {
		t.Errorf("got %+v", who.Status.UserInfo)
	}
	may := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "configmaps"},
	}}
	if _, err := NewSelfSubjectAccessReview(allows).Create(ctx, may, nil, nil); err != nil || !may.Status.Allowed {
		t.Errorf("got %+v, %v", may.Status, err)
	}
}
