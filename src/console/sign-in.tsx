/** Sign-in with an e-mail and a management key, which the page does not store. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { sessionNote, signIn } from './api/session.js';
import { TextField } from './parts/field.js';

export function SignIn() {
  const email = useSignal('');
  const key = useSignal('');
  const wrong = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);
  useEffect(() => {
    document.title = 'Sign in · Millrace';
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    wrong.value = await signIn(email.value, key.value).catch(() => 'The server cannot be reached.');
    isBusy.value = false;
    key.value = '';
  };
  return (
    <main class="sign-in">
      <form class="card stack" onSubmit={submit}>
        <h1>Millrace</h1>
        {sessionNote.value !== '' && <p class="note warn">{sessionNote.value}</p>}
        <TextField label="E-mail" type="email" value={email} isRequired />
        <TextField
          label="Management key"
          type="password"
          value={key}
          isRequired
          hint="mrk_…, as printed by the first start, or a read-only key, which cannot make changes"
        />
        {wrong.value !== undefined && (
          <p class="note bad" role="alert">
            {wrong.value}
          </p>
        )}
        <button type="submit" class="button primary" disabled={isBusy.value}>
          Sign in
        </button>
      </form>
    </main>
  );
}
