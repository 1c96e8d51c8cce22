"""Forms about oneself: profile, tokens, joining, and accounts an admin makes."""

from datetime import timedelta
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm, AuthenticateWebAuthnForm
from django import forms
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.forms import AuthenticationForm, UsernameField
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.vocabulary import TokenScope
from annotation.models import User
from annotation.services import accounts


@cache
def zones() -> list[tuple[str, str]]:
    """The IANA zones people choose from: those with a place in their name, and UTC."""
    names = sorted(
        name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "posix"))
    )
    return [("UTC", "UTC"), *((name, name.replace("_", " ")) for name in names)]


def zone_choices() -> list[tuple[str, str]]:
    """The server's own zone first, then all."""
    return [("", _("Server time zone (%(zone)s)") % {"zone": settings.TIME_ZONE}), *zones()]


class SignInForm(AuthenticationForm):
    """Django's own, with our words for the name, which may be typed as one joined with it ("Dora Lee")."""

    username = UsernameField(label=_("Name or e-mail address"), widget=forms.TextInput({"autofocus": True}))

    def clean_username(self) -> str:
        """With hyphens for spaces, as the account has it."""
        name = accounts.user_name(self.cleaned_data["username"])
        if settings.ORGANISATION is not None and not settings.ORGANISATION.may_use_password(name):
            raise forms.ValidationError(
                gettext("Passwords of this site are not accepted. Sign in through your organisation.")
            )
        return name


class PasswordForm(forms.Form):
    """The password of who is signed in, asked again before something that a stranger at their desk must not
    do."""

    password = forms.CharField(
        label=_("Your password"),
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "current-password", "autofocus": True}),
    )

    def __init__(self, request: HttpRequest, data: Any = None) -> None:
        super().__init__(data)
        self._request = request

    def clean_password(self) -> str:
        """Counted like a sign-in."""
        password: str = self.cleaned_data["password"]
        if authenticate(self._request, username=self._request.user.get_username(), password=password) is None:
            raise forms.ValidationError(gettext("This is not your password."))
        return password


class CodeForm(forms.Form):
    """A code of somebody's app, or one of their recovery codes. Counted like a password."""

    code = forms.CharField(
        label=_("Code"),
        max_length=20,
        widget=forms.TextInput({"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True}),
        help_text=_("The six digits that your app shows now, or a recovery code."),
    )

    def __init__(self, request: HttpRequest, user: User, data: Any = None) -> None:
        super().__init__(data)
        self._request, self._user = request, user

    def clean_code(self) -> str:
        """By the backends, among them those that count."""
        code = "".join(self.cleaned_data["code"].split())
        name = self._user.get_username()
        if authenticate(self._request, username=name, second_factor_token=code) is None:
            raise forms.ValidationError(gettext("This code is wrong, or has been used before."))
        return code


class AppForm(ActivateTOTPForm):
    """The first code of a new app, in our words."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["code"]
        field.label, field.max_length = _("Code"), 10
        field.help_text = _("The six digits that the app shows now.")
        field.widget = forms.TextInput({"autocomplete": "one-time-code", "inputmode": "numeric"})


UNREADABLE = (LookupError, TypeError, ValueError, AttributeError)


def _no_passkey() -> forms.ValidationError:
    return forms.ValidationError(gettext("The browser did not give a passkey. Please try again."))


class UsedPasskeyForm(AuthenticateWebAuthnForm):
    """A passkey that is used. What is none at all is refused like a wrong one."""

    def clean_credential(self) -> Authenticator:
        """The row of the passkey."""
        try:
            return super().clean_credential()
        except UNREADABLE:
            raise _no_passkey() from None


class PasskeyForm(AddWebAuthnForm):
    """A new passkey and its name, in our words."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        name = self.fields["name"]
        name.label, name.max_length, name.initial = _("Name"), 60, ""
        name.help_text = _("To tell it from others, such as “Laptop” or “Blue key”.")
        self.initial["name"] = gettext("Passkey")

    def clean(self) -> dict[str, Any]:
        """Checked by allauth, which knows less of what is no passkey at all."""
        try:
            values: dict[str, Any] = super().clean()
        except UNREADABLE:
            raise _no_passkey() from None
        return values


class ProfileForm(forms.Form):
    """A person's own settings."""

    display_name = forms.CharField(
        label=_("Name"), max_length=120, required=False, help_text=_("Shown instead of your user name.")
    )
    email = forms.EmailField(label=_("E-mail address"), required=False)
    time_zone = forms.ChoiceField(label=_("Time zone"), choices=zone_choices, required=False)
    language = forms.ChoiceField(
        label=_("Language"), choices=[("", _("Browser language")), *settings.LANGUAGES], required=False
    )
    theme = forms.ChoiceField(label=_("Theme"), choices=User.Theme.choices, required=False)
    mail_notices = forms.BooleanField(
        label=_("Mail me notices"),
        required=False,
        help_text=_("Your notices page always lists them, too. Mails name neither people nor labels."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not settings.MAIL_ENABLED:
            del self.fields["mail_notices"]


SCOPES = {
    TokenScope.READ.value: _("read"),
    TokenScope.LABEL.value: _("read, label, discuss and decide cases"),
    TokenScope.ADMIN.value: _("do everything that you may do"),
}
DAYS = (7, 30, 90, 365)


def validities() -> list[tuple[int, str]]:
    """The days that a token may be valid, each with the date on which it ends."""
    ends = {days: date_format(timezone.localtime() + timedelta(days)) for days in DAYS}
    return [
        (days, gettext("%(n)d days, until %(date)s") % {"n": days, "date": end}) for days, end in ends.items()
    ]


class TokenForm(forms.Form):
    """A new personal API token."""

    name = forms.CharField(
        label=_("Name"),
        max_length=80,
        help_text=_("What the token is for, for example the program that will use it."),
    )
    scope = forms.ChoiceField(
        label=_("May be used to"),
        choices=list(SCOPES.items()),
        widget=forms.RadioSelect,
        initial=TokenScope.READ.value,
        help_text=_("Choose the least that the program needs."),
    )
    days = forms.TypedChoiceField(label=_("Valid"), coerce=int, choices=validities, initial=90)


class JoinForm(forms.Form):
    """The account that an invitation makes; its owner signs in by any name. Nothing typed is lost: what is
    wrong comes back with both passwords, on a page that nothing keeps."""

    username = forms.CharField(
        label=_("Name or e-mail address to sign in with"),
        max_length=150,
        widget=forms.TextInput({"autocomplete": "username", "autocapitalize": "none"}),
        help_text=_("If somebody has it already, five digits are added to it."),
    )
    display_name = forms.CharField(
        label=_("Name"),
        max_length=120,
        required=False,
        widget=forms.TextInput({"autocomplete": "name"}),
        help_text=_("Shown to others."),
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "new-password"}, render_value=True),
        help_text=_("At least 8 characters, not only digits, and not a commonly used password."),
    )
    password_again = forms.CharField(
        label=_("Password again"),
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "new-password"}, render_value=True),
    )

    def __init__(self, data: Any = None, *, called: str = "", email: str = "") -> None:
        super().__init__(data, initial={"username": email or called, "display_name": called})

    def clean(self) -> dict[str, str]:
        """The two passwords must be the same."""
        values = super().clean() or {}
        if values.get("password") and values.get("password") != values.get("password_again"):
            self.add_error("password_again", _("The two passwords are not the same."))
        return values


class PersonForm(forms.Form):
    """An account that an admin makes; its owner chooses the password through a one-time link."""

    username = forms.CharField(label=_("User name"), max_length=150)
    display_name = forms.CharField(label=_("Name"), max_length=120, required=False)
    email = forms.EmailField(label=_("E-mail address"), required=False)
    is_superuser = forms.BooleanField(
        label=_("May administer the whole site"),
        required=False,
        help_text=_("Can create projects and accounts, and is an admin of every project."),
    )
