package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

var objectSteps = []step{
	{"an object is created, read, changed and deleted", func(ctx context.Context, w *walker) error {
		maps := w.kube.CoreV1().ConfigMaps(w.namespace)
		made, err := maps.Create(ctx, configMap("first", map[string]string{"a": "1"}), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		made.Data["a"] = "2"
		changed, err := maps.Update(ctx, made, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		read, err := maps.Get(ctx, "first", metav1.GetOptions{})
		if err != nil {
			return err
		}
		return errors.Join(
			expect("the value", read.Data["a"], "2"),
			expect("the version read", read.ResourceVersion, changed.ResourceVersion),
			expect("the uid", read.UID, made.UID),
			maps.Delete(ctx, "first", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(read.UID))}),
			expectThat("a read after the deletion finds nothing", isNotFound(ctx, w, "first")),
		)
	}},
	{"failures are what apierrors calls them", func(ctx context.Context, w *walker) error {
		maps := w.kube.CoreV1().ConfigMaps(w.namespace)
		made, err := maps.Create(ctx, configMap("taken", nil), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		_, again := maps.Create(ctx, configMap("taken", nil), metav1.CreateOptions{})
		_, badName := maps.Create(ctx, configMap("Bad_Name", nil), metav1.CreateOptions{})
		stale := made.DeepCopy()
		stale.ResourceVersion = "1"
		_, conflict := maps.Update(ctx, stale, metav1.UpdateOptions{})
		otherUID := maps.Delete(ctx, "taken", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("nobody")})
		_, noNamespace := w.kube.CoreV1().ConfigMaps("there-is-none").Create(ctx, configMap("x", nil), metav1.CreateOptions{})
		return errors.Join(
			expectThat("creating twice says already exists", apierrors.IsAlreadyExists(again)),
			expectThat("a bad name is invalid", apierrors.IsInvalid(badName)),
			expectThat("a stale update is a conflict", apierrors.IsConflict(conflict)),
			expectThat("another uid is a conflict", apierrors.IsConflict(otherUID)),
			expectThat("a missing namespace is not found", apierrors.IsNotFound(noNamespace)),
			expect("its message", noNamespace.Error(), `namespaces "there-is-none" not found`),
		)
	}},
	{"writers that retry on conflict lose no update", func(ctx context.Context, w *walker) error {
		maps := w.kube.CoreV1().ConfigMaps(w.namespace)
		if _, err := maps.Create(ctx, configMap("counter", map[string]string{"n": "0"}), metav1.CreateOptions{}); err != nil {
			return err
		}
		const writers, writes = 4, 10
		var acknowledged atomic.Int32 // a writer may run out of tries; what was acknowledged must be there
		var running sync.WaitGroup
		for range writers {
			running.Go(func() {
				for range writes {
					if retry.RetryOnConflict(retry.DefaultBackoff, func() error { return increment(ctx, w) }) == nil {
						acknowledged.Add(1)
					}
				}
			})
		}
		running.Wait()
		read, err := maps.Get(ctx, "counter", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if acknowledged.Load() < writes {
			return fmt.Errorf("only %d writes came through", acknowledged.Load())
		}
		return expect("the counter", read.Data["n"], strconv.Itoa(int(acknowledged.Load())))
	}},
	{"a merge patch and a JSON patch change what they name", func(ctx context.Context, w *walker) error {
		maps := w.kube.CoreV1().ConfigMaps(w.namespace)
		if _, err := maps.Create(ctx, configMap("patched", map[string]string{"a": "1", "b": "2"}), metav1.CreateOptions{}); err != nil {
			return err
		}
		merged, err := maps.Patch(ctx, "patched", types.MergePatchType, []byte(`{"data":{"a":null,"c":"3"}}`), metav1.PatchOptions{})
		if err != nil {
			return err
		}
		listed, err := maps.Patch(ctx, "patched", types.JSONPatchType, []byte(`[{"op":"test","path":"/data/c","value":"3"},{"op":"replace","path":"/data/b","value":"4"}]`), metav1.PatchOptions{})
		if err != nil {
			return err
		}
		_, stale := maps.Patch(ctx, "patched", types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"1"},"data":{"x":"y"}}`), metav1.PatchOptions{})
		return errors.Join(
			expect("the number of values after the merge", len(merged.Data), 2),
			expect("the value after the JSON patch", listed.Data["b"], "4"),
			expectThat("a patch on a stale version is a conflict", apierrors.IsConflict(stale)),
		)
	}},
	{"a dry run answers and stores nothing", func(ctx context.Context, w *walker) error {
		maps := w.kube.CoreV1().ConfigMaps(w.namespace)
		made, err := maps.Create(ctx, configMap("imagined", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err
		}
		return errors.Join(
			expectThat("the answer has a uid", made.UID != ""),
			expectThat("nothing is stored", isNotFound(ctx, w, "imagined")),
		)
	}},
	{"generated names differ", func(ctx context.Context, w *walker) error {
		names := map[string]bool{}
		for range 5 {
			made, err := w.kube.CoreV1().ConfigMaps(w.namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "some-"}}, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			names[made.Name] = strings.HasPrefix(made.Name, "some-") && len(made.Name) > len("some-")
		}
		return expect("the number of names", len(names), 5)
	}},
	{"a pod gets its defaults and its status is another resource", func(ctx context.Context, w *walker) error {
		pods := w.kube.CoreV1().Pods(w.namespace)
		made, err := pods.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "plain"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.invalid/none:1"}}, NodeName: "nowhere"},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		made.Status.Phase = corev1.PodRunning
		running, err := pods.UpdateStatus(ctx, made, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		listed, err := pods.List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=nowhere,status.phase=Running"})
		if err != nil {
			return err
		}
		grace := int64(0)
		return errors.Join(
			expect("the restart policy", made.Spec.RestartPolicy, corev1.RestartPolicyAlways),
			expect("the phase", running.Status.Phase, corev1.PodRunning),
			expect("the number of pods selected by field", len(listed.Items), 1),
			pods.Delete(ctx, "plain", metav1.DeleteOptions{GracePeriodSeconds: &grace}),
		)
	}},
}

func isNotFound(ctx context.Context, w *walker, name string) bool {
	_, err := w.kube.CoreV1().ConfigMaps(w.namespace).Get(ctx, name, metav1.GetOptions{})
	return apierrors.IsNotFound(err)
}

func increment(ctx context.Context, w *walker) error {
	maps := w.kube.CoreV1().ConfigMaps(w.namespace)
	counter, err := maps.Get(ctx, "counter", metav1.GetOptions{})
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(counter.Data["n"])
	if err != nil {
		return err
	}
	counter.Data["n"] = strconv.Itoa(number + 1)
	_, err = maps.Update(ctx, counter, metav1.UpdateOptions{})
	return err
}
