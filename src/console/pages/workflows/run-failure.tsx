/** Why a run failed, and the result of its failure function. */
import { Badge } from '../../parts/badge.js';
import { Body, Headers } from '../../parts/exchange.js';
import { ErrorBody } from './error-body.js';
import { FailureFunctionBadge } from './failure-function.js';
import type { Run } from './records.js';

export function RunFailure({ run }: { readonly run: Run }) {
  const { failureFunction: told } = run;
  if (told === undefined) return null;
  const { failStatus, failResponse, failHeaders, responseStatus, responseBody, responseHeaders, errors = [] } = told;
  return (
    <section class="card stack tight" aria-label="Why it failed">
      <div class="row flow-head">
        <h2>Why it failed</h2>
        <Badge tone="bad">{failStatus === 0 ? 'no answer' : failStatus}</Badge>
      </div>
      <ErrorBody text={failResponse} />
      <details>
        <summary>Headers of that answer</summary>
        <Headers header={failHeaders} />
      </details>
      <div class="row flow-head">
        <h2>Failure function</h2>
        <FailureFunctionBadge state={told.state} />
        {responseStatus !== undefined && <Badge>{responseStatus}</Badge>}
        <code class="small wrap-anywhere">{told.url}</code>
      </div>
      <Body text={responseBody} />
      {responseHeaders !== undefined && (
        <details>
          <summary>Headers of its answer</summary>
          <Headers header={responseHeaders} />
        </details>
      )}
      {errors.length > 0 && (
        <p class="small muted">
          {errors.length} failed {errors.length === 1 ? 'attempt' : 'attempts'} of {told.maxRetries + 1}
        </p>
      )}
    </section>
  );
}
