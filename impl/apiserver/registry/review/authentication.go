package review

import (
	"context"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// NewTokenReview returns a storage that reviews tokens, by the authenticator that the
// API server itself uses.
func NewTokenReview(authn authenticator.Request) *REST {
	return &REST{
		singular: "tokenreview",
		empty:    func() runtime.Object { return &authenticationv1.TokenReview{} },
		answer: func(ctx context.Context, obj runtime.Object) error {
			review, ok := obj.(*authenticationv1.TokenReview)
			if !ok {
				return unexpected(obj)
			}
			if review.Spec.Token == "" {
				return apierrors.NewBadRequest("spec.token is empty; there is nothing to review")
			}
			review.Status = reviewToken(ctx, authn, review.Spec)
			// The token is a secret: an answer must not repeat it.
			review.Spec.Token = ""
			return nil
		},
	}
}

func reviewToken(ctx context.Context, authn authenticator.Request, spec authenticationv1.TokenReviewSpec) authenticationv1.TokenReviewStatus {
	// The authenticator judges requests, so the token travels in one.
	probe := (&http.Request{Header: http.Header{}}).WithContext(ctx)
	probe.Header.Set("Authorization", "Bearer "+spec.Token)
	response, ok, err := authn.AuthenticateRequest(probe)
	var status authenticationv1.TokenReviewStatus
	if err != nil {
		status.Error = err.Error()
	}
	// A client without a valid token is anonymous, and a review of its token fails.
	if !ok || err != nil || response.User == nil || response.User.GetName() == user.Anonymous {
		return status
	}
	status.Authenticated = true
	status.User = infoOf(response.User)
	status.Audiences = response.Audiences
	return status
}

// NewSelfSubjectReview returns a storage that returns the user of the request.
func NewSelfSubjectReview() *REST {
	return &REST{
		singular: "selfsubjectreview",
		empty:    func() runtime.Object { return &authenticationv1.SelfSubjectReview{} },
		answer: func(ctx context.Context, obj runtime.Object) error {
			review, ok := obj.(*authenticationv1.SelfSubjectReview)
			if !ok {
				return unexpected(obj)
			}
			requester, ok := request.UserFrom(ctx)
			if !ok {
				return apierrors.NewUnauthorized("the requester is unknown")
			}
			review.Status.UserInfo = infoOf(requester)
			return nil
		},
	}
}

func infoOf(u user.Info) authenticationv1.UserInfo {
	info := authenticationv1.UserInfo{Username: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups()}
	for key, values := range u.GetExtra() {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[key] = values
	}
	return info
}
