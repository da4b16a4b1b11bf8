{{/* The parts of a pod that all processes of Millrace share. Argument: a dictionary with the chart's context as `chart`. */}}
{{- define "millrace.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "millrace.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "millrace.podStart" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- include "millrace.podSecurity" . | nindent 2 }}
volumes:
  - name: data
    emptyDir: { sizeLimit: 20Gi }
  - name: tmp
    emptyDir: { sizeLimit: 1Gi }
  - name: keys
    secret: { secretName: millrace-seal-key, defaultMode: 288 } # 0440
{{- end }}

{{- define "millrace.image" -}}
image: {{ .Values.image }}
imagePullPolicy: {{ .Values.pullPolicy }}
{{- end }}

{{- define "millrace.passwords" -}}
- { name: MILLRACE_NATS_PASSWORD, valueFrom: { secretKeyRef: { name: millrace-nats, key: app } } }
- { name: MILLRACE_NATS_SYS_PASSWORD, valueFrom: { secretKeyRef: { name: millrace-nats, key: sys } } }
{{- end }}

{{- define "millrace.containerEnd" -}}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  {{- include "millrace.containerSecurity" . | nindent 2 }}
volumeMounts:
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
  - { name: keys, mountPath: /keys, readOnly: true }
{{- end }}
