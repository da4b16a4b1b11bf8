/** The data that a step got and gave: payloads, requests, results and answers. */
import type { ComponentChildren } from 'preact';
import { SmallButton } from '../../parts/button.js';
import { Body, Headers } from '../../parts/exchange.js';
import { bytes, duration } from '../../parts/format.js';
import type { Step } from './records.js';
import type { Node } from './run-model.js';

export interface Cut {
  /** Bodies are cut at this many bytes. Undefined: they are whole. */
  readonly atBytes: number | undefined;
  onWhole(): void;
}

/** Says that bodies are cut, and loads the whole ones. */
export function CutNote({ step, cut: { atBytes, onWhole } }: { readonly step: Step | undefined; readonly cut: Cut }) {
  if (atBytes === undefined || step === undefined) return null;
  const isCut = textsOf(step).some((text) => text.length * 3 >= atBytes && sizeOf(text) >= atBytes - 4);
  if (!isCut) return null;
  return (
    <p class="note">
      <span class="grow">Of long bodies the first {bytes(atBytes)} are shown.</span>
      <SmallButton onClick={onWhole}>Load the whole</SmallButton>
    </p>
  );
}

/** @param before  the steps before, whose results a plain step builds on */
export function StepInput({ node, before }: { readonly node: Node; readonly before: readonly Node[] }) {
  const { step } = node;
  if (step?.callUrl !== undefined) {
    return (
      <Side text={step.callBody} header={step.callHeaders} about={`Request: ${step.callMethod} ${step.callUrl}`} />
    );
  }
  if (step?.invokedWorkflowRunId !== undefined) {
    return (
      <Side text={step.invokedWorkflowRunBody} header={step.invokedWorkflowRunHeaders} about="Payload of the run" />
    );
  }
  if (step?.waitEventId !== undefined) {
    return (
      <p class="small">
        Waits for the event <code dir="auto">{step.waitEventId}</code>
        {step.waitTimeoutDuration !== undefined && `, at most ${step.waitTimeoutDuration}`}
      </p>
    );
  }
  if (step?.stepType.startsWith('Sleep')) {
    return (
      <p class="small">{step.sleepFor === undefined ? 'Sleeps until a moment' : `Sleeps ${duration(step.sleepFor)}`}</p>
    );
  }
  return (
    <>
      {before.map(({ key, name, step: one }) => (
        <Side
          key={key}
          text={one?.out}
          header={undefined}
          about={key === 'init' ? 'Payload of the run' : <>Result of {name}</>}
        />
      ))}
      {step !== undefined && (
        <details>
          <summary>Headers of its delivery</summary>
          <Headers header={step.headers} />
        </details>
      )}
    </>
  );
}

export function StepOutput({ node: { step, state } }: { readonly node: Node }) {
  if (step?.callResponseStatus !== undefined) {
    const about = `Answer, ${step.callResponseStatus}`;
    return <Side text={step.callResponseBody} header={step.callResponseHeaders} about={about} />;
  }
  if (step?.out !== undefined) return <Side text={step.out} header={undefined} about={undefined} />;
  return <p class="muted small">{state === 'STEP_SUCCESS' ? 'No result' : 'No result yet'}</p>;
}

interface SideProps {
  readonly text: string | undefined;
  readonly header: Step['callHeaders'];
  readonly about: ComponentChildren;
}

function Side({ text, header, about }: SideProps) {
  return (
    <>
      {about !== undefined && (
        <p class="small muted wrap-anywhere" dir="auto">
          {about}
        </p>
      )}
      <Body text={text} />
      {header !== undefined && (
        <details>
          <summary>Headers</summary>
          <Headers header={header} />
        </details>
      )}
    </>
  );
}

function textsOf({ out = '', callBody = '', callResponseBody = '', invokedWorkflowRunBody = '' }: Step): string[] {
  return [out, callBody, callResponseBody, invokedWorkflowRunBody];
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
