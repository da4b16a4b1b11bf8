/** Decorates a method of a class, or a function in a row of a table, until the test removes the decorator. */
type Method = (...words: never[]) => unknown;
type MethodOf<Target, Name extends keyof Target> = Extract<Target[Name], Method>;

/** Removes the decorator. */
export type TakeOff = () => void;

export function patched<Target extends object, Name extends keyof Target>(
  target: Target,
  name: Name,
  decorator: (
    this: Target,
    original: (...words: Parameters<MethodOf<Target, Name>>) => ReturnType<MethodOf<Target, Name>>,
    ...words: Parameters<MethodOf<Target, Name>>
  ) => ReturnType<MethodOf<Target, Name>>,
): TakeOff {
  const original = target[name] as MethodOf<Target, Name>;
  const decorated = function (this: Target, ...words: Parameters<typeof original>) {
    return decorator.call(this, (...passedOn) => original.apply(this, passedOn) as never, ...words);
  };
  target[name] = decorated as typeof original;
  return () => {
    target[name] = original;
  };
}

/** The non-public members of an object, for decorators that need them. */
export function insideOf<Inside>(object: object): Inside {
  return object as Inside;
}
