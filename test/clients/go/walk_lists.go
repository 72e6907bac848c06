package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"
)

const listed = 25

var listSteps = []step{
	{"a pager sees every object once", func(ctx context.Context, w *walker) error {
		for i := range listed {
			made := configMap(fmt.Sprintf("item-%02d", i), nil)
			made.Labels = map[string]string{"listed": "yes", "parity": []string{"even", "odd"}[i%2]}
			if _, err := w.kube.CoreV1().ConfigMaps(w.namespace).Create(ctx, made, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return w.kube.CoreV1().ConfigMaps(w.namespace).List(ctx, options)
		})
		pages.PageSize = 10
		seen := map[string]int{}
		err := pages.EachListItem(ctx, metav1.ListOptions{LabelSelector: "listed=yes"}, func(object runtime.Object) error {
			found, err := meta.Accessor(object)
			if err == nil {
				seen[found.GetName()]++
			}
			return err
		})
		return errors.Join(err, expect("the number of names", len(seen), listed))
	}},
	{"pages are one snapshot although an object is deleted meanwhile", func(ctx context.Context, w *walker) error {
		maps := w.kube.CoreV1().ConfigMaps(w.namespace)
		first, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "listed", Limit: 20})
		if err != nil {
			return err
		}
		if err := maps.Delete(ctx, "item-24", metav1.DeleteOptions{}); err != nil {
			return err
		}
		second, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "listed", Limit: 20, Continue: first.Continue})
		if err != nil {
			return err
		}
		return errors.Join(
			expect("the first page", len(first.Items), 20),
			expect("the second page", len(second.Items), listed-20),
			expect("the token at the end", second.Continue, ""),
			expect("the version of both pages", second.ResourceVersion, first.ResourceVersion),
		)
	}},
	{"set-based selectors select", func(ctx context.Context, w *walker) error {
		found, err := w.kube.CoreV1().ConfigMaps(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: "listed,parity notin (odd)"})
		if err != nil {
			return err
		}
		return expect("the number of even items", len(found.Items), 12)
	}},
	{"a token that is none is refused", func(ctx context.Context, w *walker) error {
		_, err := w.kube.CoreV1().ConfigMaps(w.namespace).List(ctx, metav1.ListOptions{Limit: 1, Continue: "nonsense"})
		return expectThat("it is a bad request", apierrors.IsBadRequest(err))
	}},
	{"metadata alone can be listed", func(ctx context.Context, w *walker) error {
		resource := corev1.SchemeGroupVersion.WithResource("configmaps")
		found, err := w.metadata.Resource(resource).Namespace(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: "parity=odd"})
		if err != nil {
			return err
		}
		return errors.Join(
			expect("the number of objects", len(found.Items), 12),
			expect("the first one's name", found.Items[0].Name, "item-01"),
		)
	}},
	{"a collection is deleted by its selector", func(ctx context.Context, w *walker) error {
		maps := w.kube.CoreV1().ConfigMaps(w.namespace)
		if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "parity=odd"}); err != nil {
			return err
		}
		left, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "listed"})
		if err != nil {
			return err
		}
		return expect("the number of those left", len(left.Items), 12)
	}},
}
