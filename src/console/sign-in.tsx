/** Sign-in with an e-mail and a management key, which the page does not store. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { providerRefusal, providers, sessionNote, signIn, signInUrl } from './api/session.js';
import { TextField } from './parts/field.js';

export function SignIn() {
  const email = useSignal('');
  const key = useSignal('');
  const wrong = useSignal<string | undefined>(providerRefusal());
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
        {providers.value.map((provider) => (
          <a key={provider.name} class="button primary" href={signInUrl(provider)}>
            {`Sign in with ${provider.label}`}
          </a>
        ))}
        {providers.value.length > 0 && <p class="small muted sign-in-or">or with a key of this installation</p>}
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
        <button type="submit" class={`button ${providers.value.length > 0 ? '' : 'primary'}`} disabled={isBusy.value}>
          Sign in
        </button>
      </form>
    </main>
  );
}
