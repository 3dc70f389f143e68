import type { User } from "../api";
import { shown } from "../format";

/** A user by their name, and how they want to be called. */
export function nameWords({ username, display_name }: Pick<User, "username" | "display_name">): string {
  return display_name === "" ? shown(username) : `${shown(username)} (${shown(display_name)})`;
}
